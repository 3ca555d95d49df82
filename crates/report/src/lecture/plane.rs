//! Rectangles and lines in a plane of two features.

/// A rectangle with sides along the axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rectangle {
    /// Lowest and highest value on each of the two axes.
    pub(super) sides: [(f64, f64); 2],
}

impl Rectangle {
    /// The smallest rectangle around points, made larger by a tenth on each side. A side of width 0
    /// becomes 2 wide.
    pub(super) fn around(points: impl Iterator<Item = (f64, f64)> + Clone) -> Rectangle {
        let side = |values: &mut dyn Iterator<Item = f64>| {
            let ends = (f64::INFINITY, f64::NEG_INFINITY);
            let (low, high) = values.fold(ends, |e, v| (e.0.min(v), e.1.max(v)));
            let margin = match high - low {
                width if width > 0.0 => width / 10.0,
                _ => 1.0,
            };
            (low - margin, high + margin)
        };
        let xs = &mut points.clone().map(|p| p.0);
        Rectangle { sides: [side(xs), side(&mut points.map(|p| p.1))] }
    }

    /// The middle.
    pub(super) fn centre(&self) -> (f64, f64) {
        let [x, y] = self.sides.map(|(low, high)| (low + high) / 2.0);
        (x, y)
    }

    /// The parts on both sides of `value` on an axis, 0 or 1.
    pub(super) fn divided(self, axis: usize, value: f64) -> [Rectangle; 2] {
        let (mut below, mut above) = (self, self);
        if let (Some(below), Some(above)) = (below.sides.get_mut(axis), above.sides.get_mut(axis)) {
            below.1 = value.min(below.1);
            above.0 = value.max(above.0);
        }
        [below, above]
    }

    /// The two ends of the line `a x + b y = c` in the rectangle, from left to right; `None` if it
    /// does not cross the rectangle.
    pub(super) fn chord(&self, (a, b): (f64, f64), c: f64) -> Option<[(f64, f64); 2]> {
        let [(left, right), (bottom, top)] = self.sides;
        let at_x = |x: f64| (x, (c - a * x) / b);
        let at_y = |y: f64| ((c - b * y) / a, y);
        let is_inside = |p: &(f64, f64)| {
            // Points on the border are inside, whatever the rounding.
            let (w, h) = ((right - left) * 1e-9, (top - bottom) * 1e-9);
            (left - w..=right + w).contains(&p.0) && (bottom - h..=top + h).contains(&p.1)
        };
        let mut ends: Vec<(f64, f64)> = [at_x(left), at_x(right), at_y(bottom), at_y(top)]
            .into_iter()
            .filter(is_inside)
            .collect();
        ends.sort_by(|p, q| p.0.total_cmp(&q.0).then(p.1.total_cmp(&q.1)));
        match (ends.first(), ends.last()) {
            (Some(first), Some(last)) if first != last => Some([*first, *last]),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chord_ends_at_the_border_of_the_rectangle() {
        let square = Rectangle { sides: [(0.0, 2.0), (0.0, 2.0)] };
        assert_eq!(square.chord((1.0, 1.0), 1.0), Some([(0.0, 1.0), (1.0, 0.0)]));
        assert_eq!(square.chord((1.0, 0.0), 1.5), Some([(1.5, 0.0), (1.5, 2.0)]));
        assert_eq!(square.chord((0.0, 2.0), 1.0), Some([(0.0, 0.5), (2.0, 0.5)]));
        assert_eq!(square.chord((1.0, 1.0), 9.0), None);
        assert_eq!(square.chord((0.0, 0.0), 0.0), None);
    }

    #[test]
    fn a_rectangle_is_a_tenth_larger_than_its_points() {
        let points = [(0.0, 5.0), (10.0, 5.0)];
        let found = Rectangle::around(points.into_iter());
        assert_eq!(found.sides, [(-1.0, 11.0), (4.0, 6.0)]);
        let [below, above] = found.divided(0, 2.0);
        assert_eq!((below.sides[0], above.sides[0]), ((-1.0, 2.0), (2.0, 11.0)));
        assert_eq!(below.centre(), (0.5, 5.0));
    }
}
