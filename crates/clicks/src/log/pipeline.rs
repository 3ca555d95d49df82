//! Work in two steps that run at the same time: one makes things on a thread of its own, the other
//! takes them on the thread of the caller, in the same order.

use std::sync::mpsc::sync_channel;

use rankwright_data::DataError;

/// Maximum number of things that wait to be taken.
const WAITING: usize = 2;

/// Runs `produce` on another thread, and `consume` with each thing that it sends. The function that
/// sends returns false once `consume` has failed. The error of `consume` comes first.
pub(super) fn pipelined<T: Send, E: From<DataError>>(
    produce: impl FnOnce(&mut dyn FnMut(T) -> bool) -> Result<(), DataError> + Send,
    mut consume: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel(WAITING);
        let producer = scope.spawn(move || produce(&mut |thing| sender.send(thing).is_ok()));
        let mut consumed = Ok(());
        for thing in receiver {
            consumed = consume(thing);
            if consumed.is_err() {
                break;
            }
        }
        // The receiver is gone, so that a producer that still sends is told to end.
        let produced = producer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        consumed.and(produced.map_err(E::from))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_arrive_in_order_and_errors_end_the_work() {
        let failed = |what: &'static str| DataError::Internal { invariant: what };
        let mut found = Vec::new();
        let take = |number: u32| {
            found.push(number);
            Ok::<_, DataError>(())
        };
        let hundred = |send: &mut dyn FnMut(u32) -> bool| {
            assert!((0..100).all(send));
            Ok(())
        };
        pipelined(hundred, take).unwrap();
        assert_eq!(found, (0..100).collect::<Vec<_>>());
        let endless = |send: &mut dyn FnMut(u32) -> bool| {
            while send(1) {}
            Err(failed("producer"))
        };
        let error = pipelined(endless, |_| Err::<(), _>(failed("consumer"))).unwrap_err();
        assert!(error.to_string().contains("consumer"), "{error}");
        let error = pipelined(
            |send| {
                send(1);
                Err(failed("producer"))
            },
            |_: u32| Ok::<_, DataError>(()),
        );
        assert!(error.unwrap_err().to_string().contains("producer"));
    }
}
