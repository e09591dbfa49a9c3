/** Pairing: how a new device gets the household's keys, over slots that nobody has to trust. */
export { createInvite, type Invite, type InviteDeps } from './invite.ts';
export { createJoin, type Join, type JoinDeps, type JoinState } from './join.ts';
export type { PairingSlots, SlotRead } from './port.ts';
