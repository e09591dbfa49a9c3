/**
 * A device's connection to the relay, as the relay's client provides it and synchronisation uses
 * it.
 */
import type { Callable, Heard, Said } from '../endpoints/endpoint.ts';
import type { syncEndpoints } from '../endpoints/sync.ts';
import type { FromDevice, FromRelay } from './control.ts';

/** Items that arrive on the sync socket. */
export type SocketItem =
  | { readonly kind: 'text'; readonly message: FromRelay }
  | { readonly kind: 'frame'; readonly frame: Uint8Array }
  /** Everything that was queued has been sent. */
  | { readonly kind: 'drained' }
  | { readonly kind: 'lost'; readonly reason: string };

/** One connection. After `lost`, no item follows. */
export interface Socket {
  text(message: FromDevice): void;
  frame(bytes: Uint8Array): void;
  /** Bytes that were not sent yet. */
  buffered(): number;
  close(): void;
}
export type OpenSocket = (listener: (item: SocketItem) => void) => Socket;

/** Why the relay refused a call. */
interface Refusal {
  readonly ok: false;
  /** Null: the relay could not be reached. */
  readonly status: number | null;
  /** Type of the problem document, such as `device-removed`. Null: there is none. */
  readonly type: string | null;
  /** A sentence for people. */
  readonly reason: string;
  /** `old-key`: the newer keys, sealed to this device. Null: no rotation had keys for it. */
  readonly box: string | null;
}
/** The answer of one call. */
export type Called<Value> = { readonly ok: true; readonly value: Value } | Refusal;

/** The relay's calls about households, as synchronisation uses them. */
export type SyncRelay = {
  readonly [Name in Callable<typeof syncEndpoints>]: (
    said: Said<(typeof syncEndpoints)[Name]>,
  ) => Promise<Called<Heard<(typeof syncEndpoints)[Name]>>>;
};
