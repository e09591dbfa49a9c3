/** The dependencies of the actions. */
import type { StoreApi } from 'zustand/vanilla';
import type { Clock } from '../../../shared/domain/stamp.ts';
import type { Conversations } from '../conversations.ts';
import type { Devices } from '../devices.ts';
import type { Writer } from '../documents.ts';
import type { Household } from '../household.ts';
import type { Live } from '../live.ts';
import type { Notices } from '../notices.ts';
import type { Outbox } from '../outbox/index.ts';
import type { Device, DataWorkerPort, RelayPort, UpkeepState } from '../ports.ts';
import type { CallRelay } from '../call-relay.ts';
import type { PendingState, RelayInfoState } from '../relay-info.ts';
import type { WakeSizes } from '../wake-sizes.ts';
import type { Unread } from '../unread.ts';

export { attempt, DONE, type Done } from '../attempt.ts';

export interface Parts {
  readonly dataWorker: DataWorkerPort;
  readonly relay: RelayPort;
  readonly callRelay: CallRelay;
  readonly device: Device;
  readonly writer: Writer;
  /** Stamps what this page writes. */
  readonly clock: Clock;
  readonly household: Household;
  readonly live: Live;
  readonly conversations: Conversations;
  readonly outbox: Outbox;
  readonly unread: Unread;
  readonly wakeSizes: WakeSizes;
  readonly notices: Notices;
  readonly pending: StoreApi<PendingState>;
  readonly info: StoreApi<RelayInfoState>;
  readonly upkeep: StoreApi<UpkeepState>;
  readonly devices: Devices;
}
