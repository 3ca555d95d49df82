//! Work in two steps that run at the same time: one makes items on a thread of its own, the other
//! takes them on the thread of the caller, in the same order.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use rankwright_data::DataError;

/// Maximum number of items that wait to be taken.
const MAX_WAITING: usize = 2;

/// The end of a pipeline at which the producer passes items on.
pub(super) struct ItemSender<T> {
    sender: SyncSender<T>,
    used: Receiver<T>,
}

impl<T> ItemSender<T> {
    /// Passes an item on; false once the other end has failed.
    pub(super) fn send(&self, item: T) -> bool {
        self.sender.send(item).is_ok()
    }

    /// An item that the consumer no longer needs, whose memory can be used again.
    pub(super) fn used(&self) -> Option<T> {
        self.used.try_recv().ok()
    }
}

/// Runs `produce` on another thread, and `consume` with each item that it sends. The error of
/// `consume` comes first.
pub(super) fn pipelined<T: Send, E: From<DataError>>(
    produce: impl FnOnce(&ItemSender<T>) -> Result<(), DataError> + Send,
    mut consume: impl FnMut(&mut T) -> Result<(), E>,
) -> Result<(), E> {
    std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel(MAX_WAITING);
        let (give_back, used) = sync_channel(MAX_WAITING);
        let producer = scope.spawn(move || produce(&ItemSender { sender, used }));
        let mut consumed = Ok(());
        for mut item in receiver {
            consumed = consume(&mut item);
            if consumed.is_err() {
                break;
            }
            // If the producer takes no used items back, the channel is full, and the item is
            // dropped.
            give_back.try_send(item).ok();
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
        let take = |number: &mut u32| {
            found.push(*number);
            Ok::<_, DataError>(())
        };
        let hundred = |sender: &ItemSender<u32>| {
            assert!((0..100).all(|number| sender.send(number)));
            // Most items were taken, and a few of them are kept for further use.
            assert_eq!(std::iter::from_fn(|| sender.used()).count(), MAX_WAITING);
            Ok(())
        };
        pipelined(hundred, take).unwrap();
        assert_eq!(found, (0..100).collect::<Vec<_>>());
        let endless = |sender: &ItemSender<u32>| {
            while sender.send(1) {}
            Err(failed("producer"))
        };
        let error = pipelined(endless, |_| Err::<(), _>(failed("consumer"))).unwrap_err();
        assert!(error.to_string().contains("consumer"), "{error}");
        let error = pipelined(
            |sender| {
                sender.send(1);
                Err(failed("producer"))
            },
            |_: &mut u32| Ok::<_, DataError>(()),
        );
        assert!(error.unwrap_err().to_string().contains("producer"));
    }
}
