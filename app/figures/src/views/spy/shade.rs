//! Maps the number of nonzeros in a cell to its colour, with the same formula as the shader.

use ecolor::Color32;

use crate::picture::Spread;
use crate::state::{ColorMap, Scale, Theme};

/// The colour map of counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shade {
    pub scale: Scale,
    pub max: f32,
    pub quantiles: [f32; 16],
    /// Sixteen equidistant colours, from one nonzero to the fullest cell.
    pub stops: [Color32; 16],
    /// Colour inside the matrix where there are no nonzeros.
    pub empty: Color32,
}

impl Shade {
    pub(in crate::views) fn new(scale: Scale, map: ColorMap, theme: Theme, spread: Spread) -> Self {
        let ink = theme.ink();
        let dark = theme == Theme::Dark;
        let stops = std::array::from_fn(|k| {
            let share = k as f64 / 15.0;
            // A single nonzero must be visible: colour maps start well away from the background.
            let of = |gradient: colorous::Gradient, from: f64, to: f64| {
                let color = gradient.eval_continuous(from + (to - from) * share);
                Color32::from_rgb(color.r, color.g, color.b)
            };
            match (map, dark) {
                (ColorMap::Blues, false) => of(colorous::BLUES, 0.5, 1.0),
                (ColorMap::Blues, true) => of(colorous::BLUES, 0.72, 0.0),
                (ColorMap::Viridis, false) => of(colorous::VIRIDIS, 0.8, 0.0),
                (ColorMap::Viridis, true) => of(colorous::VIRIDIS, 0.25, 1.0),
                (ColorMap::Cividis, false) => of(colorous::CIVIDIS, 0.75, 0.0),
                (ColorMap::Cividis, true) => of(colorous::CIVIDIS, 0.3, 1.0),
                (ColorMap::Inferno, false) => of(colorous::INFERNO, 0.75, 0.0),
                (ColorMap::Inferno, true) => of(colorous::INFERNO, 0.35, 1.0),
                (ColorMap::Ink, _) => ink.text,
            }
        });
        let empty = match theme {
            Theme::Dark => Color32::from_gray(10),
            Theme::Light | Theme::Projector => Color32::from_gray(248),
        };
        Self { scale, max: spread.max as f32, quantiles: spread.quantiles, stops, empty }
    }

    /// Position in the colour map, from 0 for one nonzero (or few) to 1 for the fullest cell.
    pub(in crate::views) fn position(&self, count: f32) -> f32 {
        match self.scale {
            Scale::Log if self.max > 1.0 => count.ln() / self.max.ln(),
            Scale::Linear if self.max > 1.0 => (count - 1.0) / (self.max - 1.0),
            Scale::Log | Scale::Linear => 1.0,
            Scale::Percentile => {
                let mut rank = 0.0;
                for (k, pair) in self.quantiles.array_windows::<2>().enumerate() {
                    let [low, high] = *pair;
                    if count > low {
                        rank = k as f32 + ((count - low) / (high - low).max(1e-9)).min(1.0);
                    }
                }
                rank / 15.0
            }
        }
    }

    /// Colour at a position of the colour map.
    pub(in crate::views) fn at(&self, position: f32) -> Color32 {
        let place = position.clamp(0.0, 1.0) * 15.0;
        let low = (place as usize).min(14);
        let within = place - low as f32;
        match self.stops.get(low..low + 2) {
            Some(&[from, to]) => {
                let mix = |from: u8, to: u8| {
                    (f32::from(from) + (f32::from(to) - f32::from(from)) * within).round() as u8
                };
                let (from, to) = (from.to_array(), to.to_array());
                Color32::from_rgb(mix(from[0], to[0]), mix(from[1], to[1]), mix(from[2], to[2]))
            }
            _ => self.empty,
        }
    }

    /// Colour of a cell with this number of nonzeros.
    pub(in crate::views) fn color(&self, count: u64) -> Color32 {
        if count == 0 { self.empty } else { self.at(self.position(count as f32)) }
    }

    /// Counts to label on the colour bar, with their positions.
    pub(in crate::views) fn labels(&self) -> Vec<(f32, u64)> {
        let counts: Vec<u64> = match self.scale {
            _ if self.max <= 1.0 => vec![1],
            Scale::Percentile => self.quantiles.iter().step_by(5).map(|q| *q as u64).collect(),
            Scale::Linear => [0.0, 0.25, 0.5, 0.75, 1.0]
                .map(|share: f32| (1.0 + share * (self.max - 1.0)).round() as u64)
                .to_vec(),
            Scale::Log => {
                let decades = (0..12).map(|d| 10_u64.pow(d));
                let mut counts: Vec<u64> =
                    decades.filter(|count| (*count as f32) < self.max * 0.7).collect();
                counts.push(self.max as u64);
                counts
            }
        };
        let mut labels: Vec<_> = match self.scale {
            // Ranks are equidistant, whatever the counts.
            Scale::Percentile if self.max > 1.0 => {
                counts.iter().zip([0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0]).map(|(c, p)| (p, *c)).collect()
            }
            _ => counts.iter().map(|c| (self.position(*c as f32), *c)).collect(),
        };
        labels.dedup_by_key(|(_, count)| *count);
        labels
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shade(scale: Scale, max: u64) -> Shade {
        let quantiles = std::array::from_fn(|k| if k < 10 { 1.0 } else { (k - 8) as f32 });
        Shade::new(scale, ColorMap::Blues, Theme::Light, Spread { max, quantiles })
    }

    #[test]
    fn one_entry_is_the_first_colour_and_the_fullest_cell_the_last() {
        for scale in [Scale::Log, Scale::Linear] {
            let shade = shade(scale, 1000);
            assert_eq!(shade.color(1), shade.stops[0]);
            assert_eq!(shade.color(1000), shade.stops[15]);
            assert_eq!(shade.color(0), shade.empty);
        }
        let by_rank = shade(Scale::Percentile, 7);
        assert_eq!(by_rank.color(7), by_rank.stops[15]);
        assert_eq!(by_rank.color(2), by_rank.stops[10], "two thirds of the cells hold one");
    }

    #[test]
    fn a_single_entry_stands_out_from_the_empty_cells_in_every_theme_and_map() {
        let light =
            |c: Color32| f32::from(c.r()) * 0.3 + f32::from(c.g()) * 0.6 + f32::from(c.b()) * 0.1;
        for (theme, map) in
            Theme::ALL.iter().flat_map(|t| ColorMap::ALL.iter().map(move |m| (*t, *m)))
        {
            let spread = Spread { max: 50, quantiles: [1.0; 16] };
            let shade = Shade::new(Scale::Log, map, theme, spread);
            let apart = (light(shade.color(1)) - light(shade.empty)).abs();
            assert!(apart > 45.0, "{theme:?} {map:?}: {apart}");
        }
    }

    #[test]
    fn labels_ascend_with_their_counts() {
        for scale in Scale::ALL {
            for max in [1, 2, 9, 12_345_678] {
                let labels = shade(*scale, max).labels();
                assert!(!labels.is_empty() && labels.is_sorted(), "{scale:?} {max}: {labels:?}");
            }
        }
    }
}
