# Written by `python -m rankwright._stubs` from the table of learners.
from collections.abc import Sequence
from typing import Any, Literal

from rankwright._ranker import Ranker as Ranker

ESTIMATORS: dict[str, type[Ranker]]

class LambdaMART(Ranker):
    trees: int
    rate: Literal['auto'] | float
    stop: Literal['auto'] | None | int
    sample_queries: float
    sample_features: float
    goss_top: float
    goss_rest: float
    line_search: bool
    drop_trees: float
    drop_skip: float
    drop_most: int
    drop_scale: Literal['tree', 'forest'] | None
    leaves: Literal['auto'] | int
    depth: int
    min_rows: Literal['auto'] | int
    min_hessian: float
    min_gain: float
    impurity: None | float
    l1: float
    l2: float
    bins: int
    growth: Literal['leaf', 'depth', 'oblivious'] | None
    monotone: Any
    interactions: Any
    feature_cost: Any
    cost_weight: float
    categorical: Any
    cat_smooth: float
    cat_l2: float
    max_categories: int
    metric: Any
    goal: Any
    sigma: float
    truncation: Literal['auto'] | None | int
    norm_gap: bool
    norm_query: bool
    weight: Literal['swap', 'loss2', 'loss2++', 'gap'] | None
    mu: float
    pairs: Literal['top', 'coherent'] | None
    cut: Literal['soft', 'hard'] | None
    preset: Literal['none', 'burges'] | None
    newton: Literal['per-document', 'cross-leaf', 'joint'] | None
    ridge: float
    bias: Literal['none', 'gam', 'pairwise', 'ips', 'dr'] | None
    bias_l2: float
    bias_norm: float
    examination: None | Sequence[float] | float | str
    click_noise: None | Sequence[float] | float | str
    bias_clip: None | float
    labels: Any
    query: str | None
    random_state: Any
    n_jobs: int | None
    def __init__(
        self,
        *,
        trees: int = 300,
        rate: Literal['auto'] | float = 'auto',
        stop: Literal['auto'] | None | int = 'auto',
        sample_queries: float = 1.0,
        sample_features: float = 1.0,
        goss_top: float = 1.0,
        goss_rest: float = 0.1,
        line_search: bool = False,
        drop_trees: float = 0.0,
        drop_skip: float = 0.5,
        drop_most: int = 50,
        drop_scale: Literal['tree', 'forest'] | None = 'tree',
        leaves: Literal['auto'] | int = 'auto',
        depth: int = 0,
        min_rows: Literal['auto'] | int = 'auto',
        min_hessian: float = 0.001,
        min_gain: float = 0.0,
        impurity: None | float = None,
        l1: float = 0.0,
        l2: float = 0.0,
        bins: int = 255,
        growth: Literal['leaf', 'depth', 'oblivious'] | None = 'leaf',
        monotone: Any = None,
        interactions: Any = None,
        feature_cost: Any = None,
        cost_weight: float = 1.0,
        categorical: Any = None,
        cat_smooth: float = 10.0,
        cat_l2: float = 10.0,
        max_categories: int = 32,
        metric: Any = 'ndcg@10',
        goal: Any = None,
        sigma: float = 1.0,
        truncation: Literal['auto'] | None | int = 'auto',
        norm_gap: bool = True,
        norm_query: bool = True,
        weight: Literal['swap', 'loss2', 'loss2++', 'gap'] | None = 'swap',
        mu: float = 10.0,
        pairs: Literal['top', 'coherent'] | None = 'top',
        cut: Literal['soft', 'hard'] | None = 'soft',
        preset: Literal['none', 'burges'] | None = None,
        newton: Literal['per-document', 'cross-leaf', 'joint'] | None = 'per-document',
        ridge: float = 0.01,
        bias: Literal['none', 'gam', 'pairwise', 'ips', 'dr'] | None = None,
        bias_l2: float = 0.0,
        bias_norm: float = 0.0,
        examination: None | Sequence[float] | float | str = None,
        click_noise: None | Sequence[float] | float | str = None,
        bias_clip: None | float = None,
        labels: Any = 'label',
        query: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None: ...

class RankMART(Ranker):
    trees: int
    rate: Literal['auto'] | float
    stop: Literal['auto'] | None | int
    sample_queries: float
    sample_features: float
    goss_top: float
    goss_rest: float
    line_search: bool
    drop_trees: float
    drop_skip: float
    drop_most: int
    drop_scale: Literal['tree', 'forest'] | None
    leaves: Literal['auto'] | int
    depth: int
    min_rows: Literal['auto'] | int
    min_hessian: float
    min_gain: float
    impurity: None | float
    l1: float
    l2: float
    bins: int
    growth: Literal['leaf', 'depth', 'oblivious'] | None
    monotone: Any
    interactions: Any
    feature_cost: Any
    cost_weight: float
    categorical: Any
    cat_smooth: float
    cat_l2: float
    max_categories: int
    metric: Any
    sigma: float
    truncation: Literal['auto'] | None | int
    ties: Literal['ignore', 'half'] | None
    norm_gap: bool
    norm_query: bool
    newton: Literal['per-document', 'cross-leaf', 'joint'] | None
    ridge: float
    bias: Literal['none', 'gam', 'pairwise', 'ips', 'dr'] | None
    bias_l2: float
    bias_norm: float
    examination: None | Sequence[float] | float | str
    click_noise: None | Sequence[float] | float | str
    bias_clip: None | float
    labels: Any
    query: str | None
    random_state: Any
    n_jobs: int | None
    def __init__(
        self,
        *,
        trees: int = 300,
        rate: Literal['auto'] | float = 'auto',
        stop: Literal['auto'] | None | int = 'auto',
        sample_queries: float = 1.0,
        sample_features: float = 1.0,
        goss_top: float = 1.0,
        goss_rest: float = 0.1,
        line_search: bool = False,
        drop_trees: float = 0.0,
        drop_skip: float = 0.5,
        drop_most: int = 50,
        drop_scale: Literal['tree', 'forest'] | None = 'tree',
        leaves: Literal['auto'] | int = 'auto',
        depth: int = 0,
        min_rows: Literal['auto'] | int = 'auto',
        min_hessian: float = 0.001,
        min_gain: float = 0.0,
        impurity: None | float = None,
        l1: float = 0.0,
        l2: float = 0.0,
        bins: int = 255,
        growth: Literal['leaf', 'depth', 'oblivious'] | None = 'leaf',
        monotone: Any = None,
        interactions: Any = None,
        feature_cost: Any = None,
        cost_weight: float = 1.0,
        categorical: Any = None,
        cat_smooth: float = 10.0,
        cat_l2: float = 10.0,
        max_categories: int = 32,
        metric: Any = 'ndcg@10',
        sigma: float = 1.0,
        truncation: Literal['auto'] | None | int = 'auto',
        ties: Literal['ignore', 'half'] | None = 'ignore',
        norm_gap: bool = False,
        norm_query: bool = False,
        newton: Literal['per-document', 'cross-leaf', 'joint'] | None = 'per-document',
        ridge: float = 0.01,
        bias: Literal['none', 'gam', 'pairwise', 'ips', 'dr'] | None = None,
        bias_l2: float = 0.0,
        bias_norm: float = 0.0,
        examination: None | Sequence[float] | float | str = None,
        click_noise: None | Sequence[float] | float | str = None,
        bias_clip: None | float = None,
        labels: Any = 'label',
        query: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None: ...

class XENDCG(Ranker):
    trees: int
    rate: Literal['auto'] | float
    stop: Literal['auto'] | None | int
    sample_queries: float
    sample_features: float
    goss_top: float
    goss_rest: float
    line_search: bool
    drop_trees: float
    drop_skip: float
    drop_most: int
    drop_scale: Literal['tree', 'forest'] | None
    leaves: Literal['auto'] | int
    depth: int
    min_rows: Literal['auto'] | int
    min_hessian: float
    min_gain: float
    impurity: None | float
    l1: float
    l2: float
    bins: int
    growth: Literal['leaf', 'depth', 'oblivious'] | None
    monotone: Any
    interactions: Any
    feature_cost: Any
    cost_weight: float
    categorical: Any
    cat_smooth: float
    cat_l2: float
    max_categories: int
    metric: Any
    terms: int
    bias: Literal['none', 'gam', 'pairwise', 'ips', 'dr'] | None
    bias_l2: float
    bias_norm: float
    examination: None | Sequence[float] | float | str
    click_noise: None | Sequence[float] | float | str
    bias_clip: None | float
    labels: Any
    query: str | None
    random_state: Any
    n_jobs: int | None
    def __init__(
        self,
        *,
        trees: int = 300,
        rate: Literal['auto'] | float = 'auto',
        stop: Literal['auto'] | None | int = 'auto',
        sample_queries: float = 1.0,
        sample_features: float = 1.0,
        goss_top: float = 1.0,
        goss_rest: float = 0.1,
        line_search: bool = False,
        drop_trees: float = 0.0,
        drop_skip: float = 0.5,
        drop_most: int = 50,
        drop_scale: Literal['tree', 'forest'] | None = 'tree',
        leaves: Literal['auto'] | int = 'auto',
        depth: int = 0,
        min_rows: Literal['auto'] | int = 'auto',
        min_hessian: float = 0.001,
        min_gain: float = 0.0,
        impurity: None | float = None,
        l1: float = 0.0,
        l2: float = 0.0,
        bins: int = 255,
        growth: Literal['leaf', 'depth', 'oblivious'] | None = 'leaf',
        monotone: Any = None,
        interactions: Any = None,
        feature_cost: Any = None,
        cost_weight: float = 1.0,
        categorical: Any = None,
        cat_smooth: float = 10.0,
        cat_l2: float = 10.0,
        max_categories: int = 32,
        metric: Any = 'ndcg@10',
        terms: int = 3,
        bias: Literal['none', 'gam', 'pairwise', 'ips', 'dr'] | None = None,
        bias_l2: float = 0.0,
        bias_norm: float = 0.0,
        examination: None | Sequence[float] | float | str = None,
        click_noise: None | Sequence[float] | float | str = None,
        bias_clip: None | float = None,
        labels: Any = 'label',
        query: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None: ...

class YetiRank(Ranker):
    trees: int
    rate: Literal['auto'] | float
    stop: Literal['auto'] | None | int
    sample_queries: float
    sample_features: float
    goss_top: float
    goss_rest: float
    line_search: bool
    drop_trees: float
    drop_skip: float
    drop_most: int
    drop_scale: Literal['tree', 'forest'] | None
    leaves: Literal['auto'] | int
    depth: int
    min_rows: Literal['auto'] | int
    min_hessian: float
    min_gain: float
    impurity: None | float
    l1: float
    l2: float
    bins: int
    growth: Literal['leaf', 'depth', 'oblivious'] | None
    monotone: Any
    interactions: Any
    feature_cost: Any
    cost_weight: float
    categorical: Any
    cat_smooth: float
    cat_l2: float
    max_categories: int
    metric: Any
    samples: int
    noise: float
    newton: Literal['per-document', 'cross-leaf', 'joint'] | None
    ridge: float
    bias: Literal['none', 'gam', 'pairwise', 'ips', 'dr'] | None
    bias_l2: float
    bias_norm: float
    examination: None | Sequence[float] | float | str
    click_noise: None | Sequence[float] | float | str
    bias_clip: None | float
    labels: Any
    query: str | None
    random_state: Any
    n_jobs: int | None
    def __init__(
        self,
        *,
        trees: int = 300,
        rate: Literal['auto'] | float = 'auto',
        stop: Literal['auto'] | None | int = 'auto',
        sample_queries: float = 1.0,
        sample_features: float = 1.0,
        goss_top: float = 1.0,
        goss_rest: float = 0.1,
        line_search: bool = False,
        drop_trees: float = 0.0,
        drop_skip: float = 0.5,
        drop_most: int = 50,
        drop_scale: Literal['tree', 'forest'] | None = 'tree',
        leaves: Literal['auto'] | int = 'auto',
        depth: int = 0,
        min_rows: Literal['auto'] | int = 'auto',
        min_hessian: float = 0.001,
        min_gain: float = 0.0,
        impurity: None | float = None,
        l1: float = 0.0,
        l2: float = 0.0,
        bins: int = 255,
        growth: Literal['leaf', 'depth', 'oblivious'] | None = 'leaf',
        monotone: Any = None,
        interactions: Any = None,
        feature_cost: Any = None,
        cost_weight: float = 1.0,
        categorical: Any = None,
        cat_smooth: float = 10.0,
        cat_l2: float = 10.0,
        max_categories: int = 32,
        metric: Any = 'ndcg@10',
        samples: int = 10,
        noise: float = 1.0,
        newton: Literal['per-document', 'cross-leaf', 'joint'] | None = 'per-document',
        ridge: float = 0.01,
        bias: Literal['none', 'gam', 'pairwise', 'ips', 'dr'] | None = None,
        bias_l2: float = 0.0,
        bias_norm: float = 0.0,
        examination: None | Sequence[float] | float | str = None,
        click_noise: None | Sequence[float] | float | str = None,
        bias_clip: None | float = None,
        labels: Any = 'label',
        query: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None: ...

class MART(Ranker):
    loss: Literal['squared', 'query-rmse', 'logloss', 'huber', 'ordinal', 'softmax', 'listmle', 'approxndcg'] | None
    rel: float
    alpha: float
    delta: None | float
    target: Literal['softmax', 'gain', 'label'] | None
    top: None | int
    temperature: float
    trees: int
    rate: Literal['auto'] | float
    stop: Literal['auto'] | None | int
    sample_queries: float
    sample_features: float
    goss_top: float
    goss_rest: float
    line_search: bool
    drop_trees: float
    drop_skip: float
    drop_most: int
    drop_scale: Literal['tree', 'forest'] | None
    leaves: Literal['auto'] | int
    depth: int
    min_rows: Literal['auto'] | int
    min_hessian: float
    min_gain: float
    impurity: None | float
    l1: float
    l2: float
    bins: int
    growth: Literal['leaf', 'depth', 'oblivious'] | None
    monotone: Any
    interactions: Any
    feature_cost: Any
    cost_weight: float
    categorical: Any
    cat_smooth: float
    cat_l2: float
    max_categories: int
    metric: Any
    bias: Literal['none', 'gam', 'pairwise', 'ips', 'dr'] | None
    bias_l2: float
    bias_norm: float
    examination: None | Sequence[float] | float | str
    click_noise: None | Sequence[float] | float | str
    bias_clip: None | float
    labels: Any
    query: str | None
    random_state: Any
    n_jobs: int | None
    def __init__(
        self,
        *,
        loss: Literal['squared', 'query-rmse', 'logloss', 'huber', 'ordinal', 'softmax', 'listmle', 'approxndcg'] | None = 'squared',
        rel: float = 1.0,
        alpha: float = 0.9,
        delta: None | float = None,
        target: Literal['softmax', 'gain', 'label'] | None = 'softmax',
        top: None | int = None,
        temperature: float = 0.1,
        trees: int = 300,
        rate: Literal['auto'] | float = 'auto',
        stop: Literal['auto'] | None | int = 'auto',
        sample_queries: float = 1.0,
        sample_features: float = 1.0,
        goss_top: float = 1.0,
        goss_rest: float = 0.1,
        line_search: bool = False,
        drop_trees: float = 0.0,
        drop_skip: float = 0.5,
        drop_most: int = 50,
        drop_scale: Literal['tree', 'forest'] | None = 'tree',
        leaves: Literal['auto'] | int = 'auto',
        depth: int = 0,
        min_rows: Literal['auto'] | int = 'auto',
        min_hessian: float = 0.001,
        min_gain: float = 0.0,
        impurity: None | float = None,
        l1: float = 0.0,
        l2: float = 0.0,
        bins: int = 255,
        growth: Literal['leaf', 'depth', 'oblivious'] | None = 'leaf',
        monotone: Any = None,
        interactions: Any = None,
        feature_cost: Any = None,
        cost_weight: float = 1.0,
        categorical: Any = None,
        cat_smooth: float = 10.0,
        cat_l2: float = 10.0,
        max_categories: int = 32,
        metric: Any = 'ndcg@10',
        bias: Literal['none', 'gam', 'pairwise', 'ips', 'dr'] | None = None,
        bias_l2: float = 0.0,
        bias_norm: float = 0.0,
        examination: None | Sequence[float] | float | str = None,
        click_noise: None | Sequence[float] | float | str = None,
        bias_clip: None | float = None,
        labels: Any = 'label',
        query: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None: ...

class Boosting(Ranker):
    objective: Any
    trees: int
    rate: Literal['auto'] | float
    stop: Literal['auto'] | None | int
    sample_queries: float
    sample_features: float
    goss_top: float
    goss_rest: float
    line_search: bool
    drop_trees: float
    drop_skip: float
    drop_most: int
    drop_scale: Literal['tree', 'forest'] | None
    leaves: Literal['auto'] | int
    depth: int
    min_rows: Literal['auto'] | int
    min_hessian: float
    min_gain: float
    impurity: None | float
    l1: float
    l2: float
    bins: int
    growth: Literal['leaf', 'depth', 'oblivious'] | None
    monotone: Any
    interactions: Any
    feature_cost: Any
    cost_weight: float
    categorical: Any
    cat_smooth: float
    cat_l2: float
    max_categories: int
    metric: Any
    newton: Literal['per-document', 'cross-leaf', 'joint'] | None
    ridge: float
    bias: Literal['none', 'gam', 'pairwise', 'ips', 'dr'] | None
    bias_l2: float
    bias_norm: float
    examination: None | Sequence[float] | float | str
    click_noise: None | Sequence[float] | float | str
    bias_clip: None | float
    labels: Any
    query: str | None
    random_state: Any
    n_jobs: int | None
    def __init__(
        self,
        *,
        objective: Any = 'lambda(metric=ndcg@10)',
        trees: int = 300,
        rate: Literal['auto'] | float = 'auto',
        stop: Literal['auto'] | None | int = 'auto',
        sample_queries: float = 1.0,
        sample_features: float = 1.0,
        goss_top: float = 1.0,
        goss_rest: float = 0.1,
        line_search: bool = False,
        drop_trees: float = 0.0,
        drop_skip: float = 0.5,
        drop_most: int = 50,
        drop_scale: Literal['tree', 'forest'] | None = 'tree',
        leaves: Literal['auto'] | int = 'auto',
        depth: int = 0,
        min_rows: Literal['auto'] | int = 'auto',
        min_hessian: float = 0.001,
        min_gain: float = 0.0,
        impurity: None | float = None,
        l1: float = 0.0,
        l2: float = 0.0,
        bins: int = 255,
        growth: Literal['leaf', 'depth', 'oblivious'] | None = 'leaf',
        monotone: Any = None,
        interactions: Any = None,
        feature_cost: Any = None,
        cost_weight: float = 1.0,
        categorical: Any = None,
        cat_smooth: float = 10.0,
        cat_l2: float = 10.0,
        max_categories: int = 32,
        metric: Any = 'ndcg@10',
        newton: Literal['per-document', 'cross-leaf', 'joint'] | None = 'per-document',
        ridge: float = 0.01,
        bias: Literal['none', 'gam', 'pairwise', 'ips', 'dr'] | None = None,
        bias_l2: float = 0.0,
        bias_norm: float = 0.0,
        examination: None | Sequence[float] | float | str = None,
        click_noise: None | Sequence[float] | float | str = None,
        bias_clip: None | float = None,
        labels: Any = 'label',
        query: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None: ...

class Tree(Ranker):
    leaves: Literal['auto'] | int
    depth: int
    min_rows: Literal['auto'] | int
    min_hessian: float
    min_gain: float
    impurity: None | float
    l1: float
    l2: float
    bins: int
    growth: Literal['leaf', 'depth', 'oblivious'] | None
    monotone: Any
    interactions: Any
    feature_cost: Any
    cost_weight: float
    categorical: Any
    cat_smooth: float
    cat_l2: float
    max_categories: int
    metric: Any
    query: str | None
    random_state: Any
    n_jobs: int | None
    def __init__(
        self,
        *,
        leaves: Literal['auto'] | int = 'auto',
        depth: int = 0,
        min_rows: Literal['auto'] | int = 'auto',
        min_hessian: float = 0.001,
        min_gain: float = 0.0,
        impurity: None | float = None,
        l1: float = 0.0,
        l2: float = 0.0,
        bins: int = 255,
        growth: Literal['leaf', 'depth', 'oblivious'] | None = 'leaf',
        monotone: Any = None,
        interactions: Any = None,
        feature_cost: Any = None,
        cost_weight: float = 1.0,
        categorical: Any = None,
        cat_smooth: float = 10.0,
        cat_l2: float = 10.0,
        max_categories: int = 32,
        metric: Any = 'ndcg@10',
        query: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None: ...

class RankSVM(Ranker):
    loss: Literal['squared-hinge', 'hinge'] | None
    c: Literal['auto'] | Sequence[float] | float | str
    norm_query: bool
    steps: int
    tolerance: float
    feature_transform: Literal['auto', 'adapt', 'none', 'standard', 'min-max', 'query-min-max', 'log', 'log-standard', 'rank', 'gauss'] | None
    clip: None | float
    metric: Any
    bias: Literal['none', 'gam', 'pairwise', 'ips', 'dr'] | None
    bias_l2: float
    bias_norm: float
    examination: None | Sequence[float] | float | str
    click_noise: None | Sequence[float] | float | str
    bias_clip: None | float
    query: str | None
    random_state: Any
    n_jobs: int | None
    def __init__(
        self,
        *,
        loss: Literal['squared-hinge', 'hinge'] | None = 'squared-hinge',
        c: Literal['auto'] | Sequence[float] | float | str = 'auto',
        norm_query: bool = False,
        steps: int = 100,
        tolerance: float = 0.0001,
        feature_transform: Literal['auto', 'adapt', 'none', 'standard', 'min-max', 'query-min-max', 'log', 'log-standard', 'rank', 'gauss'] | None = 'auto',
        clip: None | float = None,
        metric: Any = 'ndcg@10',
        bias: Literal['none', 'gam', 'pairwise', 'ips', 'dr'] | None = None,
        bias_l2: float = 0.0,
        bias_norm: float = 0.0,
        examination: None | Sequence[float] | float | str = None,
        click_noise: None | Sequence[float] | float | str = None,
        bias_clip: None | float = None,
        query: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None: ...

class PairwiseLogistic(Ranker):
    c: Sequence[float] | float | str
    norm_query: bool
    steps: int
    tolerance: float
    feature_transform: Literal['auto', 'adapt', 'none', 'standard', 'min-max', 'query-min-max', 'log', 'log-standard', 'rank', 'gauss'] | None
    clip: None | float
    metric: Any
    bias: Literal['none', 'gam', 'pairwise', 'ips', 'dr'] | None
    bias_l2: float
    bias_norm: float
    examination: None | Sequence[float] | float | str
    click_noise: None | Sequence[float] | float | str
    bias_clip: None | float
    query: str | None
    random_state: Any
    n_jobs: int | None
    def __init__(
        self,
        *,
        c: Sequence[float] | float | str = (30.0,),
        norm_query: bool = False,
        steps: int = 100,
        tolerance: float = 0.0001,
        feature_transform: Literal['auto', 'adapt', 'none', 'standard', 'min-max', 'query-min-max', 'log', 'log-standard', 'rank', 'gauss'] | None = 'auto',
        clip: None | float = None,
        metric: Any = 'ndcg@10',
        bias: Literal['none', 'gam', 'pairwise', 'ips', 'dr'] | None = None,
        bias_l2: float = 0.0,
        bias_norm: float = 0.0,
        examination: None | Sequence[float] | float | str = None,
        click_noise: None | Sequence[float] | float | str = None,
        bias_clip: None | float = None,
        query: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None: ...

class LinearRegression(Ranker):
    l2: float
    feature_transform: Literal['auto', 'adapt', 'none', 'standard', 'min-max', 'query-min-max', 'log', 'log-standard', 'rank', 'gauss'] | None
    clip: None | float
    metric: Any
    query: str | None
    random_state: Any
    n_jobs: int | None
    def __init__(
        self,
        *,
        l2: float = 0.1,
        feature_transform: Literal['auto', 'adapt', 'none', 'standard', 'min-max', 'query-min-max', 'log', 'log-standard', 'rank', 'gauss'] | None = 'auto',
        clip: None | float = None,
        metric: Any = 'ndcg@10',
        query: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None: ...

class Logistic(Ranker):
    rel: float
    c: Sequence[float] | float | str
    steps: int
    tolerance: float
    feature_transform: Literal['auto', 'adapt', 'none', 'standard', 'min-max', 'query-min-max', 'log', 'log-standard', 'rank', 'gauss'] | None
    clip: None | float
    metric: Any
    query: str | None
    random_state: Any
    n_jobs: int | None
    def __init__(
        self,
        *,
        rel: float = 1.0,
        c: Sequence[float] | float | str = (100.0,),
        steps: int = 100,
        tolerance: float = 0.0001,
        feature_transform: Literal['auto', 'adapt', 'none', 'standard', 'min-max', 'query-min-max', 'log', 'log-standard', 'rank', 'gauss'] | None = 'auto',
        clip: None | float = None,
        metric: Any = 'ndcg@10',
        query: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None: ...

class LinearSVM(Ranker):
    loss: Literal['squared-hinge', 'hinge'] | None
    rel: float
    c: Sequence[float] | float | str
    steps: int
    tolerance: float
    feature_transform: Literal['auto', 'adapt', 'none', 'standard', 'min-max', 'query-min-max', 'log', 'log-standard', 'rank', 'gauss'] | None
    clip: None | float
    metric: Any
    query: str | None
    random_state: Any
    n_jobs: int | None
    def __init__(
        self,
        *,
        loss: Literal['squared-hinge', 'hinge'] | None = 'squared-hinge',
        rel: float = 1.0,
        c: Sequence[float] | float | str = (10.0,),
        steps: int = 100,
        tolerance: float = 0.0001,
        feature_transform: Literal['auto', 'adapt', 'none', 'standard', 'min-max', 'query-min-max', 'log', 'log-standard', 'rank', 'gauss'] | None = 'auto',
        clip: None | float = None,
        metric: Any = 'ndcg@10',
        query: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None: ...

class Ordinal(Ranker):
    c: Sequence[float] | float | str
    steps: int
    tolerance: float
    feature_transform: Literal['auto', 'adapt', 'none', 'standard', 'min-max', 'query-min-max', 'log', 'log-standard', 'rank', 'gauss'] | None
    clip: None | float
    metric: Any
    query: str | None
    random_state: Any
    n_jobs: int | None
    def __init__(
        self,
        *,
        c: Sequence[float] | float | str = (30.0,),
        steps: int = 100,
        tolerance: float = 0.0001,
        feature_transform: Literal['auto', 'adapt', 'none', 'standard', 'min-max', 'query-min-max', 'log', 'log-standard', 'rank', 'gauss'] | None = 'auto',
        clip: None | float = None,
        metric: Any = 'ndcg@10',
        query: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None: ...

class LambdaRank(Ranker):
    layers: Sequence[int] | int | str
    activation: Literal['relu', 'gelu', 'tanh'] | None
    dropout: float
    norm: Literal['none', 'layer', 'batch'] | None
    noise: float
    optimiser: Literal['adamw', 'adam', 'sgd'] | None
    rate: Literal['auto'] | float
    momentum: float
    decay: Literal['auto'] | float
    schedule: Literal['cosine', 'constant', 'step'] | None
    warmup: float
    drop: float
    drop_every: float
    batch: int
    epochs: int
    stop: Literal['auto'] | None | int
    feature_transform: Literal['auto', 'adapt', 'none', 'standard', 'min-max', 'query-min-max', 'log', 'log-standard', 'rank', 'gauss'] | None
    clip: None | float
    metric: Any
    goal: Any
    sigma: float
    truncation: Literal['auto'] | None | int
    norm_gap: bool
    norm_query: bool
    weight: Literal['swap', 'loss2', 'loss2++', 'gap'] | None
    mu: float
    pairs: Literal['top', 'coherent'] | None
    cut: Literal['soft', 'hard'] | None
    preset: Literal['none', 'burges'] | None
    bias: Literal['none', 'gam', 'pairwise', 'ips', 'dr'] | None
    bias_l2: float
    bias_norm: float
    examination: None | Sequence[float] | float | str
    click_noise: None | Sequence[float] | float | str
    bias_clip: None | float
    labels: Any
    query: str | None
    random_state: Any
    n_jobs: int | None
    def __init__(
        self,
        *,
        layers: Sequence[int] | int | str = (64, 32),
        activation: Literal['relu', 'gelu', 'tanh'] | None = 'relu',
        dropout: float = 0.0,
        norm: Literal['none', 'layer', 'batch'] | None = None,
        noise: float = 0.1,
        optimiser: Literal['adamw', 'adam', 'sgd'] | None = 'adamw',
        rate: Literal['auto'] | float = 'auto',
        momentum: float = 0.9,
        decay: Literal['auto'] | float = 'auto',
        schedule: Literal['cosine', 'constant', 'step'] | None = 'cosine',
        warmup: float = 0.0,
        drop: float = 0.1,
        drop_every: float = 20.0,
        batch: int = 16,
        epochs: int = 30,
        stop: Literal['auto'] | None | int = 'auto',
        feature_transform: Literal['auto', 'adapt', 'none', 'standard', 'min-max', 'query-min-max', 'log', 'log-standard', 'rank', 'gauss'] | None = 'adapt',
        clip: None | float = None,
        metric: Any = 'ndcg@10',
        goal: Any = None,
        sigma: float = 1.0,
        truncation: Literal['auto'] | None | int = 'auto',
        norm_gap: bool = True,
        norm_query: bool = True,
        weight: Literal['swap', 'loss2', 'loss2++', 'gap'] | None = 'swap',
        mu: float = 10.0,
        pairs: Literal['top', 'coherent'] | None = 'top',
        cut: Literal['soft', 'hard'] | None = 'soft',
        preset: Literal['none', 'burges'] | None = None,
        bias: Literal['none', 'gam', 'pairwise', 'ips', 'dr'] | None = None,
        bias_l2: float = 0.0,
        bias_norm: float = 0.0,
        examination: None | Sequence[float] | float | str = None,
        click_noise: None | Sequence[float] | float | str = None,
        bias_clip: None | float = None,
        labels: Any = 'label',
        query: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None: ...

class RankNet(Ranker):
    layers: Sequence[int] | int | str
    activation: Literal['relu', 'gelu', 'tanh'] | None
    dropout: float
    norm: Literal['none', 'layer', 'batch'] | None
    noise: float
    optimiser: Literal['adamw', 'adam', 'sgd'] | None
    rate: Literal['auto'] | float
    momentum: float
    decay: Literal['auto'] | float
    schedule: Literal['cosine', 'constant', 'step'] | None
    warmup: float
    drop: float
    drop_every: float
    batch: int
    epochs: int
    stop: Literal['auto'] | None | int
    feature_transform: Literal['auto', 'adapt', 'none', 'standard', 'min-max', 'query-min-max', 'log', 'log-standard', 'rank', 'gauss'] | None
    clip: None | float
    metric: Any
    sigma: float
    truncation: Literal['auto'] | None | int
    ties: Literal['ignore', 'half'] | None
    norm_gap: bool
    norm_query: bool
    update: Literal['query', 'pair'] | None
    factored: bool
    bias: Literal['none', 'gam', 'pairwise', 'ips', 'dr'] | None
    bias_l2: float
    bias_norm: float
    examination: None | Sequence[float] | float | str
    click_noise: None | Sequence[float] | float | str
    bias_clip: None | float
    labels: Any
    query: str | None
    random_state: Any
    n_jobs: int | None
    def __init__(
        self,
        *,
        layers: Sequence[int] | int | str = (64, 32),
        activation: Literal['relu', 'gelu', 'tanh'] | None = 'relu',
        dropout: float = 0.0,
        norm: Literal['none', 'layer', 'batch'] | None = None,
        noise: float = 0.1,
        optimiser: Literal['adamw', 'adam', 'sgd'] | None = 'adamw',
        rate: Literal['auto'] | float = 'auto',
        momentum: float = 0.9,
        decay: Literal['auto'] | float = 'auto',
        schedule: Literal['cosine', 'constant', 'step'] | None = 'cosine',
        warmup: float = 0.0,
        drop: float = 0.1,
        drop_every: float = 20.0,
        batch: int = 16,
        epochs: int = 30,
        stop: Literal['auto'] | None | int = 'auto',
        feature_transform: Literal['auto', 'adapt', 'none', 'standard', 'min-max', 'query-min-max', 'log', 'log-standard', 'rank', 'gauss'] | None = 'adapt',
        clip: None | float = None,
        metric: Any = 'ndcg@10',
        sigma: float = 1.0,
        truncation: Literal['auto'] | None | int = 'auto',
        ties: Literal['ignore', 'half'] | None = 'ignore',
        norm_gap: bool = False,
        norm_query: bool = False,
        update: Literal['query', 'pair'] | None = 'query',
        factored: bool = True,
        bias: Literal['none', 'gam', 'pairwise', 'ips', 'dr'] | None = None,
        bias_l2: float = 0.0,
        bias_norm: float = 0.0,
        examination: None | Sequence[float] | float | str = None,
        click_noise: None | Sequence[float] | float | str = None,
        bias_clip: None | float = None,
        labels: Any = 'label',
        query: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None: ...

class ListNet(Ranker):
    layers: Sequence[int] | int | str
    activation: Literal['relu', 'gelu', 'tanh'] | None
    dropout: float
    norm: Literal['none', 'layer', 'batch'] | None
    noise: float
    optimiser: Literal['adamw', 'adam', 'sgd'] | None
    rate: Literal['auto'] | float
    momentum: float
    decay: Literal['auto'] | float
    schedule: Literal['cosine', 'constant', 'step'] | None
    warmup: float
    drop: float
    drop_every: float
    batch: int
    epochs: int
    stop: Literal['auto'] | None | int
    feature_transform: Literal['auto', 'adapt', 'none', 'standard', 'min-max', 'query-min-max', 'log', 'log-standard', 'rank', 'gauss'] | None
    clip: None | float
    metric: Any
    bias: Literal['none', 'gam', 'pairwise', 'ips', 'dr'] | None
    bias_l2: float
    bias_norm: float
    examination: None | Sequence[float] | float | str
    click_noise: None | Sequence[float] | float | str
    bias_clip: None | float
    labels: Any
    query: str | None
    random_state: Any
    n_jobs: int | None
    def __init__(
        self,
        *,
        layers: Sequence[int] | int | str = (64, 32),
        activation: Literal['relu', 'gelu', 'tanh'] | None = 'relu',
        dropout: float = 0.0,
        norm: Literal['none', 'layer', 'batch'] | None = None,
        noise: float = 0.1,
        optimiser: Literal['adamw', 'adam', 'sgd'] | None = 'adamw',
        rate: Literal['auto'] | float = 'auto',
        momentum: float = 0.9,
        decay: Literal['auto'] | float = 'auto',
        schedule: Literal['cosine', 'constant', 'step'] | None = 'cosine',
        warmup: float = 0.0,
        drop: float = 0.1,
        drop_every: float = 20.0,
        batch: int = 16,
        epochs: int = 30,
        stop: Literal['auto'] | None | int = 'auto',
        feature_transform: Literal['auto', 'adapt', 'none', 'standard', 'min-max', 'query-min-max', 'log', 'log-standard', 'rank', 'gauss'] | None = 'adapt',
        clip: None | float = None,
        metric: Any = 'ndcg@10',
        bias: Literal['none', 'gam', 'pairwise', 'ips', 'dr'] | None = None,
        bias_l2: float = 0.0,
        bias_norm: float = 0.0,
        examination: None | Sequence[float] | float | str = None,
        click_noise: None | Sequence[float] | float | str = None,
        bias_clip: None | float = None,
        labels: Any = 'label',
        query: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None: ...

class ListMLE(Ranker):
    layers: Sequence[int] | int | str
    activation: Literal['relu', 'gelu', 'tanh'] | None
    dropout: float
    norm: Literal['none', 'layer', 'batch'] | None
    noise: float
    optimiser: Literal['adamw', 'adam', 'sgd'] | None
    rate: Literal['auto'] | float
    momentum: float
    decay: Literal['auto'] | float
    schedule: Literal['cosine', 'constant', 'step'] | None
    warmup: float
    drop: float
    drop_every: float
    batch: int
    epochs: int
    stop: Literal['auto'] | None | int
    feature_transform: Literal['auto', 'adapt', 'none', 'standard', 'min-max', 'query-min-max', 'log', 'log-standard', 'rank', 'gauss'] | None
    clip: None | float
    metric: Any
    top: None | int
    bias: Literal['none', 'gam', 'pairwise', 'ips', 'dr'] | None
    bias_l2: float
    bias_norm: float
    examination: None | Sequence[float] | float | str
    click_noise: None | Sequence[float] | float | str
    bias_clip: None | float
    labels: Any
    query: str | None
    random_state: Any
    n_jobs: int | None
    def __init__(
        self,
        *,
        layers: Sequence[int] | int | str = (64, 32),
        activation: Literal['relu', 'gelu', 'tanh'] | None = 'relu',
        dropout: float = 0.0,
        norm: Literal['none', 'layer', 'batch'] | None = None,
        noise: float = 0.1,
        optimiser: Literal['adamw', 'adam', 'sgd'] | None = 'adamw',
        rate: Literal['auto'] | float = 'auto',
        momentum: float = 0.9,
        decay: Literal['auto'] | float = 'auto',
        schedule: Literal['cosine', 'constant', 'step'] | None = 'cosine',
        warmup: float = 0.0,
        drop: float = 0.1,
        drop_every: float = 20.0,
        batch: int = 16,
        epochs: int = 30,
        stop: Literal['auto'] | None | int = 'auto',
        feature_transform: Literal['auto', 'adapt', 'none', 'standard', 'min-max', 'query-min-max', 'log', 'log-standard', 'rank', 'gauss'] | None = 'adapt',
        clip: None | float = None,
        metric: Any = 'ndcg@10',
        top: None | int = None,
        bias: Literal['none', 'gam', 'pairwise', 'ips', 'dr'] | None = None,
        bias_l2: float = 0.0,
        bias_norm: float = 0.0,
        examination: None | Sequence[float] | float | str = None,
        click_noise: None | Sequence[float] | float | str = None,
        bias_clip: None | float = None,
        labels: Any = 'label',
        query: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None: ...

class Softmax(Ranker):
    layers: Sequence[int] | int | str
    activation: Literal['relu', 'gelu', 'tanh'] | None
    dropout: float
    norm: Literal['none', 'layer', 'batch'] | None
    noise: float
    optimiser: Literal['adamw', 'adam', 'sgd'] | None
    rate: Literal['auto'] | float
    momentum: float
    decay: Literal['auto'] | float
    schedule: Literal['cosine', 'constant', 'step'] | None
    warmup: float
    drop: float
    drop_every: float
    batch: int
    epochs: int
    stop: Literal['auto'] | None | int
    feature_transform: Literal['auto', 'adapt', 'none', 'standard', 'min-max', 'query-min-max', 'log', 'log-standard', 'rank', 'gauss'] | None
    clip: None | float
    metric: Any
    target: Literal['gain', 'label', 'noisy-gain'] | None
    bias: Literal['none', 'gam', 'pairwise', 'ips', 'dr'] | None
    bias_l2: float
    bias_norm: float
    examination: None | Sequence[float] | float | str
    click_noise: None | Sequence[float] | float | str
    bias_clip: None | float
    labels: Any
    query: str | None
    random_state: Any
    n_jobs: int | None
    def __init__(
        self,
        *,
        layers: Sequence[int] | int | str = (64, 32),
        activation: Literal['relu', 'gelu', 'tanh'] | None = 'relu',
        dropout: float = 0.0,
        norm: Literal['none', 'layer', 'batch'] | None = None,
        noise: float = 0.1,
        optimiser: Literal['adamw', 'adam', 'sgd'] | None = 'adamw',
        rate: Literal['auto'] | float = 'auto',
        momentum: float = 0.9,
        decay: Literal['auto'] | float = 'auto',
        schedule: Literal['cosine', 'constant', 'step'] | None = 'cosine',
        warmup: float = 0.0,
        drop: float = 0.1,
        drop_every: float = 20.0,
        batch: int = 16,
        epochs: int = 30,
        stop: Literal['auto'] | None | int = 'auto',
        feature_transform: Literal['auto', 'adapt', 'none', 'standard', 'min-max', 'query-min-max', 'log', 'log-standard', 'rank', 'gauss'] | None = 'adapt',
        clip: None | float = None,
        metric: Any = 'ndcg@10',
        target: Literal['gain', 'label', 'noisy-gain'] | None = 'gain',
        bias: Literal['none', 'gam', 'pairwise', 'ips', 'dr'] | None = None,
        bias_l2: float = 0.0,
        bias_norm: float = 0.0,
        examination: None | Sequence[float] | float | str = None,
        click_noise: None | Sequence[float] | float | str = None,
        bias_clip: None | float = None,
        labels: Any = 'label',
        query: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None: ...

class ApproxNDCG(Ranker):
    layers: Sequence[int] | int | str
    activation: Literal['relu', 'gelu', 'tanh'] | None
    dropout: float
    norm: Literal['none', 'layer', 'batch'] | None
    noise: float
    optimiser: Literal['adamw', 'adam', 'sgd'] | None
    rate: Literal['auto'] | float
    momentum: float
    decay: Literal['auto'] | float
    schedule: Literal['cosine', 'constant', 'step'] | None
    warmup: float
    drop: float
    drop_every: float
    batch: int
    epochs: int
    stop: Literal['auto'] | None | int
    feature_transform: Literal['auto', 'adapt', 'none', 'standard', 'min-max', 'query-min-max', 'log', 'log-standard', 'rank', 'gauss'] | None
    clip: None | float
    metric: Any
    temperature: float
    bias: Literal['none', 'gam', 'pairwise', 'ips', 'dr'] | None
    bias_l2: float
    bias_norm: float
    examination: None | Sequence[float] | float | str
    click_noise: None | Sequence[float] | float | str
    bias_clip: None | float
    labels: Any
    query: str | None
    random_state: Any
    n_jobs: int | None
    def __init__(
        self,
        *,
        layers: Sequence[int] | int | str = (64, 32),
        activation: Literal['relu', 'gelu', 'tanh'] | None = 'relu',
        dropout: float = 0.0,
        norm: Literal['none', 'layer', 'batch'] | None = None,
        noise: float = 0.1,
        optimiser: Literal['adamw', 'adam', 'sgd'] | None = 'adamw',
        rate: Literal['auto'] | float = 'auto',
        momentum: float = 0.9,
        decay: Literal['auto'] | float = 'auto',
        schedule: Literal['cosine', 'constant', 'step'] | None = 'cosine',
        warmup: float = 0.0,
        drop: float = 0.1,
        drop_every: float = 20.0,
        batch: int = 16,
        epochs: int = 30,
        stop: Literal['auto'] | None | int = 'auto',
        feature_transform: Literal['auto', 'adapt', 'none', 'standard', 'min-max', 'query-min-max', 'log', 'log-standard', 'rank', 'gauss'] | None = 'adapt',
        clip: None | float = None,
        metric: Any = 'ndcg@10',
        temperature: float = 0.1,
        bias: Literal['none', 'gam', 'pairwise', 'ips', 'dr'] | None = None,
        bias_l2: float = 0.0,
        bias_norm: float = 0.0,
        examination: None | Sequence[float] | float | str = None,
        click_noise: None | Sequence[float] | float | str = None,
        bias_clip: None | float = None,
        labels: Any = 'label',
        query: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None: ...

class RankBoost(Ranker):
    trees: int
    rate: float
    stop: Literal['auto'] | None | int
    norm_query: bool
    sample_queries: float
    sample_features: float
    bins: int
    metric: Any
    query: str | None
    random_state: Any
    n_jobs: int | None
    def __init__(
        self,
        *,
        trees: int = 300,
        rate: float = 1.0,
        stop: Literal['auto'] | None | int = 'auto',
        norm_query: bool = True,
        sample_queries: float = 1.0,
        sample_features: float = 1.0,
        bins: int = 255,
        metric: Any = 'ndcg@10',
        query: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None: ...

class AdaRank(Ranker):
    rounds: int
    directions: Literal['both', 'falling'] | None
    tolerance: float
    stop: Literal['auto'] | None | int
    feature_transform: Literal['auto', 'adapt', 'none', 'standard', 'min-max', 'query-min-max', 'log', 'log-standard', 'rank', 'gauss'] | None
    clip: None | float
    metric: Any
    query: str | None
    random_state: Any
    n_jobs: int | None
    def __init__(
        self,
        *,
        rounds: int = 500,
        directions: Literal['both', 'falling'] | None = 'both',
        tolerance: float = 0.0,
        stop: Literal['auto'] | None | int = 'auto',
        feature_transform: Literal['auto', 'adapt', 'none', 'standard', 'min-max', 'query-min-max', 'log', 'log-standard', 'rank', 'gauss'] | None = 'auto',
        clip: None | float = None,
        metric: Any = 'ndcg@10',
        query: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None: ...

class SVMMAP(Ranker):
    c: float
    epsilon: float
    rounds: int
    rel: float
    feature_transform: Literal['auto', 'adapt', 'none', 'standard', 'min-max', 'query-min-max', 'log', 'log-standard', 'rank', 'gauss'] | None
    clip: None | float
    metric: Any
    query: str | None
    random_state: Any
    n_jobs: int | None
    def __init__(
        self,
        *,
        c: float = 1.0,
        epsilon: float = 0.001,
        rounds: int = 500,
        rel: float = 1.0,
        feature_transform: Literal['auto', 'adapt', 'none', 'standard', 'min-max', 'query-min-max', 'log', 'log-standard', 'rank', 'gauss'] | None = 'auto',
        clip: None | float = None,
        metric: Any = 'ndcg@10',
        query: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None: ...

class CoordinateAscent(Ranker):
    restarts: int
    passes: int
    tolerance: float
    feature_transform: Literal['auto', 'adapt', 'none', 'standard', 'min-max', 'query-min-max', 'log', 'log-standard', 'rank', 'gauss'] | None
    clip: None | float
    metric: Any
    query: str | None
    random_state: Any
    n_jobs: int | None
    def __init__(
        self,
        *,
        restarts: int = 3,
        passes: int = 25,
        tolerance: float = 0.0005,
        feature_transform: Literal['auto', 'adapt', 'none', 'standard', 'min-max', 'query-min-max', 'log', 'log-standard', 'rank', 'gauss'] | None = 'auto',
        clip: None | float = None,
        metric: Any = 'ndcg@10',
        query: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None: ...

class RandomForest(Ranker):
    trees: int
    leaves: int
    depth: int
    min_rows: int
    min_gain: float
    sample_queries: float
    sample_features: float
    bins: int
    stop: Literal['auto'] | None | int
    metric: Any
    query: str | None
    random_state: Any
    n_jobs: int | None
    def __init__(
        self,
        *,
        trees: int = 300,
        leaves: int = 100,
        depth: int = 0,
        min_rows: int = 10,
        min_gain: float = 0.0,
        sample_queries: float = 0.63,
        sample_features: float = 0.3,
        bins: int = 255,
        stop: Literal['auto'] | None | int = 'auto',
        metric: Any = 'ndcg@10',
        query: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None: ...

class Bagging(Ranker):
    learner: Any
    bags: int
    sample_queries: float
    metric: Any
    query: str | None
    random_state: Any
    n_jobs: int | None
    def __init__(
        self,
        *,
        learner: Any = 'lambdamart',
        bags: int = 10,
        sample_queries: float = 0.63,
        metric: Any = 'ndcg@10',
        query: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None: ...

class Blend(Ranker):
    members: Any
    preset: Literal['none', 'yahoo'] | None
    normalise: Literal['standard', 'none', 'min-max', 'rank'] | None
    weights: Literal['learn', 'equal'] | None
    hold_out: float
    repeats: int
    tolerance: float
    metric: Any
    query: str | None
    random_state: Any
    n_jobs: int | None
    def __init__(
        self,
        *,
        members: Any = 'auto',
        preset: Literal['none', 'yahoo'] | None = None,
        normalise: Literal['standard', 'none', 'min-max', 'rank'] | None = 'standard',
        weights: Literal['learn', 'equal'] | None = 'learn',
        hold_out: float = 0.2,
        repeats: int = 10,
        tolerance: float = 0.003,
        metric: Any = 'ndcg@10',
        query: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None: ...

class Auto(Ranker):
    effort: Literal['quick', 'normal', 'thorough'] | None
    candidates: Any
    folds: Literal['auto'] | int
    pull: float
    minutes: None | float
    serve: Literal['blend', 'fast'] | None
    metric: Any
    query: str | None
    random_state: Any
    n_jobs: int | None
    def __init__(
        self,
        *,
        effort: Literal['quick', 'normal', 'thorough'] | None = 'normal',
        candidates: Any = 'auto',
        folds: Literal['auto'] | int = 'auto',
        pull: float = 0.3,
        minutes: None | float = None,
        serve: Literal['blend', 'fast'] | None = 'blend',
        metric: Any = 'ndcg@10',
        query: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None: ...

class Linear(Ranker):
    weights: Any
    bias: float
    metric: Any
    query: str | None
    random_state: Any
    n_jobs: int | None
    def __init__(
        self,
        *,
        weights: Any = None,
        bias: float = 0.0,
        metric: Any = 'ndcg@10',
        query: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None: ...
