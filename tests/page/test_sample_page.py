"""The sample page, which has every kind of plot and block, in a browser."""

import pytest
from browser import Opened, browser, check_page, check_size

# The number of series of each plot.
CHARTS = {
    "ndcg": 4,
    "loss": 3,
    "pairs": 3,
    "importance": 2,
    "wins": 1,
    "means": 2,
    "labels": 3,
    "correlation": 1,
    "forces-1": 2,
    "forces-2": 2,
    "scores": 2,
    "nothing": 0,
}


@pytest.fixture(scope="module")
def chrome():
    with browser() as one:
        yield one


def test_every_plot_can_be_seen_pointed_at_and_read(sample):
    check_page(sample, CHARTS)


def test_hover_shows_all_series_at_the_nearest_place(chrome, sample):
    with Opened(chrome, sample) as opened:
        words = opened.hover("ndcg", across=0.3)
        assert words.startswith("trees ")
        for name in ("training: 0.", "validation: 0.", "checkpoint: 0."):
            assert name in words
        assert " to " in words, "the band is shown"
        assert "BM25: 0.36" in opened.hover("ndcg", across=0.999)
        # In the gap of one series the others are still shown.
        assert "checkpoint" not in opened.hover("ndcg", across=0.47)


def test_hover_and_keyboard_agree_with_the_numbers_below_the_plot(chrome, sample):
    with Opened(chrome, sample) as opened:
        opened.page.locator('[data-chart="labels"] summary').click()
        row = opened.page.locator('[data-chart="labels"] tbody tr').nth(0).inner_text().split()
        first, _ = opened.keyboard("labels")
        assert row[0] == "1" and first.split("\n")[0] == "1"
        for value in row[1:]:
            assert value in first


def test_arrow_keys_go_along_rows_and_columns_of_a_grid(chrome, sample):
    with Opened(chrome, sample) as opened:
        plot = opened.page.locator('[data-chart="correlation"] .chart')
        plot.focus()
        plot.press("Home")
        plot.press("ArrowRight")
        assert opened.tip("correlation").startswith("feature number 1, feature number 2")
        plot.press("ArrowDown")
        assert opened.tip("correlation").startswith("feature number 2, feature number 2")


def test_names_are_shown_as_they_are_and_never_run(chrome, sample):
    dialogs = []
    with Opened(chrome, sample) as opened:
        opened.page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
        assert "<script>alert(1)</script>" in opened.page.locator(".facts").inner_text()
        assert any("<script>alert(1)</script>" in name for name in opened.series("scores"))
        _, last = opened.keyboard("importance")
        assert "<script>alert(1)</script>" in last
    assert not dialogs


def test_a_script_that_is_not_ours_does_not_run(chrome, sample, tmp_path):
    spoilt = tmp_path / "spoilt.html"
    strange = "<script>document.title = 'taken over'</script>"
    text = sample.read_text(encoding="utf-8")
    spoilt.write_text(text.replace("</main>", strange + "</main>"), encoding="utf-8")
    with Opened(chrome, spoilt) as opened:
        assert opened.page.title().startswith("Training report")
        assert any("Content Security Policy" in words for words in opened.complaints)


def test_tab_reaches_the_skip_link_first_and_then_every_plot(chrome, sample):
    with Opened(chrome, sample) as opened:
        opened.page.keyboard.press("Tab")
        assert opened.page.evaluate("document.activeElement.className") == "skip"
        reached = set()
        for _ in range(80):
            opened.page.keyboard.press("Tab")
            chart = opened.page.evaluate(
                "document.activeElement.closest('.chart')?.parentElement.dataset.chart"
            )
            reached.add(chart)
        assert set(CHARTS) - {"forces-2"} <= reached


def test_a_choice_shows_one_group_and_print_shows_all(chrome, sample):
    with Opened(chrome, sample) as opened:
        group = opened.page.locator(".group")
        assert [group.nth(i).is_visible() for i in range(2)] == [True, False]
        opened.page.locator(".choice select").select_option("q2")
        assert [group.nth(i).is_visible() for i in range(2)] == [False, True]
        opened.page.emulate_media(media="print")
        assert [group.nth(i).is_visible() for i in range(2)] == [True, True]
        assert not opened.page.locator("nav").is_visible()
        assert opened.page.locator('[data-chart="ndcg"] svg.wide').is_visible()
        # As wide as the printed part of a sheet of A4.
        opened.page.set_viewport_size({"width": 720, "height": 1000})
        assert opened.page.evaluate("document.scrollingElement.scrollWidth") <= 720


def test_everything_can_be_read_without_scripts(chrome, sample):
    with Opened(chrome, sample, script=False) as opened:
        figures = opened.page.locator("figure[data-chart]")
        assert figures.count() == len(CHARTS)
        assert all(figures.nth(i).is_visible() for i in range(len(CHARTS)))
        assert not opened.page.locator("button.theme").is_visible()


def test_the_button_turns_light_to_dark_and_back(chrome, sample):
    with Opened(chrome, sample) as opened:
        ground = "getComputedStyle(document.body).backgroundColor"
        light = opened.page.evaluate(ground)
        opened.page.get_by_role("button", name="Dark colours").click()
        assert opened.page.evaluate(ground) != light
        opened.page.get_by_role("button", name="Light colours").click()
        assert opened.page.evaluate(ground) == light


def test_a_click_on_a_heading_sorts_the_table(chrome, sample):
    with Opened(chrome, sample) as opened:
        table = opened.page.locator('[data-table="systems"]')
        head = table.get_by_role("columnheader", name="NDCG@10")

        def column():
            cells = table.locator("tbody td:nth-child(2)").all_inner_texts()
            return [text.rstrip(" ▲\n") for text in cells]

        head.get_by_role("button").click()
        assert column() == sorted(column()) and head.get_attribute("aria-sort") == "ascending"
        head.get_by_role("button").click()
        assert column() == sorted(column(), reverse=True)


def test_parts_open_in_the_browser_in_both_colours(chrome, sample):
    for svg in sorted((sample.parent / "parts").glob("*.svg")):
        for scheme in ("light", "dark"):
            with Opened(chrome, svg, scheme=scheme) as opened:
                assert opened.page.locator("svg").first.is_visible()
                assert not opened.complaints, f"{svg.name}: {opened.complaints}"


@pytest.mark.parametrize("width", [390, 820, 1100, 1280, 1920])
def test_no_window_is_too_narrow_or_too_wide(chrome, sample, width):
    with Opened(chrome, sample, width) as opened:
        check_size(opened)
