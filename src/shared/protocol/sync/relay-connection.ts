/**
 * A device's connection to the relay, as the relay's client gives it and synchronisation uses it.
 */
import type { Callable, Heard, Said } from '../endpoints/endpoint.ts';
import type { syncEndpoints } from '../endpoints/sync.ts';
import type { FromDevice, FromRelay } from './control.ts';

/** What comes on the sync socket. */
export type SocketItem =
  | { readonly kind: 'text'; readonly message: FromRelay }
  | { readonly kind: 'frame'; readonly frame: Uint8Array }
  /** What was to be sent has left. */
  | { readonly kind: 'drained' }
  | { readonly kind: 'lost'; readonly reason: string };

/** One connection. After `lost` nothing more comes on it. */
export interface Socket {
  text(message: FromDevice): void;
  frame(bytes: Uint8Array): void;
  /** Bytes that have not left yet. */
  buffered(): number;
  close(): void;
}
export type OpenSocket = (listener: (item: SocketItem) => void) => Socket;

/** Why the relay did not do what it was asked. */
interface Refusal {
  readonly ok: false;
  /** null: it could not be reached. */
  readonly status: number | null;
  /** The problem's name, such as `device-removed`; null where there is none. */
  readonly type: string | null;
  /** A sentence for people. */
  readonly reason: string;
  /** `old-key`: the newer keys, sealed to this device, where a rotation had some for it. */
  readonly box: string | null;
}
/** One call's answer. */
export type Called<Value> = { readonly ok: true; readonly value: Value } | Refusal;

/** The relay's calls about households, as synchronisation makes them. */
export type SyncRelay = {
  readonly [Name in Callable<typeof syncEndpoints>]: (
    said: Said<(typeof syncEndpoints)[Name]>,
  ) => Promise<Called<Heard<(typeof syncEndpoints)[Name]>>>;
};
