/** The store cannot be used; the message is one line for the person who started the relay. */
export class StoreError extends Error {
  override name = 'StoreError';
}
