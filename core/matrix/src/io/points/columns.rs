//! The columns of a file of points that are compared, their directions, and the column that names points.

use crate::io::IoError;
use crate::io::error::{quoted, shown};
use crate::matrix::Points;
use crate::memory::MemoryLimit;

/// Columns as a user gives them: by the name in the header, or by number from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// The columns to compare, besides those of `minimized` and `maximized`. If there are none, all but `id`
    /// are compared.
    pub compared: Vec<String>,
    /// Columns in which smaller is better.
    pub minimized: Vec<String>,
    /// Smaller is better in every column that `maximized` does not have. Then the columns compared are only
    /// those of `compared`, or all.
    pub minimizes_all: bool,
    /// Columns in which larger is better, as in all others.
    pub maximized: Vec<String>,
    /// The column with the names of the points.
    pub id: Option<String>,
}

/// A column of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its number, from 1.
    pub number: usize,
    /// Its name, if there is a header.
    pub name: Option<String>,
    /// Whether smaller is better.
    pub minimized: bool,
}

/// The columns read, one per dimension, and the names of the points.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// The columns compared; empty if all of a file without column names are, in the same direction.
    pub compared: Vec<Column>,
    /// The column with the names of the points.
    pub id: Option<Column>,
    /// The names of the points, if there is such a column.
    pub ids: Vec<String>,
}

/// What was expected of the columns, and what was found.
pub(super) struct Mismatch {
    pub(super) expected: String,
    pub(super) found: String,
}

impl Columns {
    /// Whether these fields of the first line must be names, because a column is given by its name: by a word,
    /// or by a number beyond the number of columns that is one of the fields.
    pub(super) fn need_names(&self, fields: &[&[u8]]) -> bool {
        let lists = [&self.compared, &self.minimized, &self.maximized];
        let mut words = lists.into_iter().flatten().chain(&self.id);
        words.any(|word| match word.parse::<usize>() {
            Ok(number) => {
                !(1..=fields.len()).contains(&number) && fields.contains(&word.as_bytes())
            }
            Err(_) => true,
        })
    }

    /// Finds the columns in a file with this header and number of columns.
    pub(super) fn chosen(
        &self,
        names: Option<&[String]>,
        columns: usize,
    ) -> Result<Chosen, Mismatch> {
        let place = |word: &String| {
            let names_of_all = names.unwrap_or_default().iter().enumerate();
            let mut named = names_of_all.filter(|(_, name)| *name == word).map(|(place, _)| place);
            let number = word.parse::<usize>().ok();
            if let Some(first) = named.next() {
                return match named.next() {
                    None => Ok(first),
                    Some(second) => Err(Mismatch {
                        expected: format!("one column {}", quoted(word.as_bytes())),
                        found: format!("columns {} and {} of this name", first + 1, second + 1),
                    }),
                };
            }
            let numbered = number.filter(|number| (1..=columns).contains(number));
            numbered.map(|number| number - 1).ok_or_else(|| Mismatch {
                expected: match number {
                    Some(1..) => format!("a column named \"{word}\", or {word} columns"),
                    _ => format!("a column {}", quoted(word.as_bytes())),
                },
                found: match names {
                    Some(names) => {
                        let names: Vec<_> = names.iter().map(|n| shown(n.as_bytes())).collect();
                        format!("the columns {}", names.join(", "))
                    }
                    None if columns == 1 => "one column without a name".to_owned(),
                    None => format!("{columns} columns without names"),
                },
            })
        };
        let places = |words: &[String]| words.iter().map(place).collect::<Result<Vec<_>, _>>();
        let (minimized, maximized) = (places(&self.minimized)?, places(&self.maximized)?);
        let id = self.id.as_ref().map(place).transpose()?;
        if let Some(both) = minimized.iter().find(|place| maximized.contains(place)) {
            return Err(Mismatch {
                expected: "one direction per column".to_owned(),
                found: format!("column {} both minimized and maximized", both + 1),
            });
        }
        let mut compared = places(&self.compared)?;
        if !self.minimizes_all || !compared.is_empty() {
            compared.extend(minimized.iter().chain(&maximized));
        }
        if compared.is_empty() {
            compared = (0..columns).filter(|place| Some(*place) != id).collect();
        }
        let column = |place: usize| Column {
            number: place + 1,
            name: names.and_then(|names| names.get(place).cloned()),
            minimized: match self.minimizes_all {
                true => !maximized.contains(&place),
                false => minimized.contains(&place),
            },
        };
        let mut chosen = Chosen { id: id.map(column), ..Chosen::default() };
        for place in compared {
            if chosen.compared.iter().all(|before| before.number != place + 1) {
                chosen.compared.push(column(place));
            }
        }
        Ok(chosen)
    }

    /// Takes the columns of points that have no header. Fails if that is impossible, or if both the points and
    /// what is taken of them exceed `limit`.
    pub fn of(&self, points: Points, limit: MemoryLimit) -> Result<(Points, Chosen), IoError> {
        if self.id.is_some() {
            let why = "expected CSV with a column of names, found points without names";
            return Err(IoError::Points(why.to_owned()));
        }
        let lists = [&self.compared, &self.minimized, &self.maximized];
        if lists.iter().all(|list| list.is_empty()) {
            return Ok((points, Chosen::default()));
        }
        let chosen = self.chosen(None, points.dimensions()).map_err(|mismatch| {
            let Mismatch { expected, found } = mismatch;
            IoError::Points(format!("expected {expected}, found {found}"))
        })?;
        let is_whole = chosen.compared.len() == points.dimensions()
            && chosen.compared.is_sorted_by_key(|column| column.number);
        if is_whole {
            return Ok((points, chosen));
        }
        let places: Vec<usize> = chosen.compared.iter().map(|column| column.number - 1).collect();
        let (all, taken) = (points.dimensions() as u128, places.len() as u128);
        limit.check("the columns compared", points.len() as u128 * (all + taken) * 8)?;
        Ok((points.of_dimensions(&places), chosen))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &str) -> Vec<String> {
        words.split_terminator(',').map(str::to_owned).collect()
    }

    /// The numbers of the columns compared, negative if smaller is better, in a file with these columns.
    fn compared(columns: &Columns) -> Result<Vec<i64>, String> {
        let names = words("hotel,price,stars,2");
        let chosen = columns.chosen(Some(&names), 4);
        let chosen = chosen.map_err(|wrong| format!("{}|{}", wrong.expected, wrong.found))?;
        let number = |column: &Column| {
            let number = column.number as i64;
            if column.minimized { -number } else { number }
        };
        Ok(chosen.compared.iter().map(number).collect())
    }

    #[test]
    fn columns_are_found_by_name_then_by_number_each_once_with_its_direction() {
        let of = |listed: &str, minimized: &str, maximized: &str| Columns {
            compared: words(listed),
            minimized: words(minimized),
            maximized: words(maximized),
            ..Columns::default()
        };
        for (columns, expected) in [
            (of("", "", ""), vec![1, 2, 3, 4]),
            (of("price,stars", "", ""), vec![2, 3]),
            (of("price,stars", "price", "stars"), vec![-2, 3]),
            (of("", "price", "stars"), vec![-2, 3]),
            (of("stars", "price", ""), vec![3, -2]),
            (of("3,stars,1", "", ""), vec![3, 1]),
            // A name that is a number.
            (of("2", "", ""), vec![4]),
            (Columns { minimizes_all: true, ..of("", "", "") }, vec![-1, -2, -3, -4]),
            (Columns { minimizes_all: true, ..of("", "", "stars") }, vec![-1, -2, 3, -4]),
            (Columns { minimizes_all: true, ..of("1,stars", "", "") }, vec![-1, -3]),
            (Columns { id: Some("hotel".into()), ..of("", "", "") }, vec![2, 3, 4]),
        ] {
            assert_eq!(compared(&columns).unwrap(), expected, "{columns:?}");
        }
        for (columns, expected) in [
            (of("cost", "", ""), "a column \"cost\"|the columns hotel, price, stars, 2"),
            (
                of("5", "", ""),
                "a column named \"5\", or 5 columns|the columns hotel, price, stars, 2",
            ),
            (of("0", "", ""), "a column \"0\"|the columns hotel, price, stars, 2"),
            (
                of("", "3", "stars"),
                "one direction per column|column 3 both minimized and maximized",
            ),
        ] {
            assert_eq!(compared(&columns).unwrap_err(), expected);
        }
    }

    #[test]
    fn a_name_that_two_columns_have_is_refused_only_where_it_is_used() {
        let names = words("price,stars,price");
        let of = |listed: &str| Columns { compared: words(listed), ..Columns::default() };
        let wrong = of("stars,price").chosen(Some(&names), 3).err().unwrap();
        assert_eq!(wrong.expected, "one column \"price\"");
        assert_eq!(wrong.found, "columns 1 and 3 of this name");
        let chosen = of("stars,3").chosen(Some(&names), 3).ok().unwrap();
        assert_eq!((chosen.compared[0].number, chosen.compared[1].number), (2, 3));
    }

    #[test]
    fn points_without_a_header_have_numbered_columns() {
        let points = Points::new(3, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        let of = |listed: &str| Columns { compared: words(listed), ..Columns::default() };
        let limit = MemoryLimit::bytes(80);
        let (taken, _) = of("3,1").of(points.clone(), limit).unwrap();
        assert_eq!(taken.coordinates(), [3.0, 1.0, 6.0, 4.0]);
        assert_eq!(of("").of(points.clone(), limit).unwrap().0, points);
        // Six numbers and four of them: 80 bytes.
        let error = of("3,1").of(points.clone(), MemoryLimit::bytes(79)).unwrap_err().to_string();
        assert!(error.starts_with("the columns compared needs 80 bytes"), "{error}");
        let message = |columns: Columns| columns.of(points.clone(), limit).unwrap_err().to_string();
        assert_eq!(
            message(of("price")),
            "expected a column \"price\", found 3 columns without names"
        );
        let named = Columns { id: Some("1".into()), ..Columns::default() };
        assert!(message(named).ends_with("found points without names"));
    }
}
