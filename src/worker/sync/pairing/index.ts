/** Pairing: how a new device gets the household's keys, over slots that nobody has to trust. */
export { createInvite, type Invite, createJoin, type Join, type JoinState, type PairingSlots } from './pairing.ts';
