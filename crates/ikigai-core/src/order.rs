//! Sorting lists.

/// Sorts by a number, stably. The sorting itself is compiled once, not for every type.
pub(crate) fn by_number<T>(items: &mut Vec<T>, number: impl Fn(&T) -> usize) {
    if items.is_sorted_by_key(&number) {
        return;
    }
    let numbers: Vec<usize> = items.iter().map(number).collect();
    let mut taken: Vec<Option<T>> = items.drain(..).map(Some).collect();
    items.extend(order(&numbers).into_iter().filter_map(|place| taken.get_mut(place)?.take()));
}

/// Returns the positions of the numbers, smallest number first.
fn order(numbers: &[usize]) -> Vec<usize> {
    let mut places: Vec<(usize, usize)> = numbers.iter().copied().zip(0..).collect();
    places.sort_unstable();
    places.into_iter().map(|(_, place)| place).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lists_are_sorted_as_by_the_standard_library(numbers in prop::collection::vec(0_usize..9, 0..30)) {
            let mut found: Vec<(usize, usize)> = numbers.iter().copied().zip(0..).collect();
            let mut expected = found.clone();
            by_number(&mut found, |(number, _)| *number);
            expected.sort_by_key(|(number, _)| *number);
            prop_assert_eq!(found, expected);
        }
    }
}
