/** Pairing: how a new device gets the household's keys, over slots that nobody has to trust. */
export { createInvite, type Invite } from './invite.ts';
export { createJoin, type Join, type JoinState } from './join.ts';
export type { PairingSlots } from './port.ts';
