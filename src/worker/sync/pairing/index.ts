/**
 * Pairing: how a new device gets the household's keys.
 *
 * The new device shows an offer as text and QR code. A device of the household answers it over
 * slots of the relay. Two people, or one, compare six words on both screens. Only then are the keys
 * sealed for the new device.
 *
 * Main types: `Invite` (the device that has the keys), `Join` (the new one), `JoinState`.
 *
 * Invariants:
 * - The relay carries the messages and is not trusted: the six words cover every key involved.
 * - An offer serves once, and for a limited time.
 *
 * It does not know how keys are stored. `../owner` does that.
 */
export { createInvite, type Invite, createJoin, type Join, type JoinState, type PairingSlots } from './pairing.ts';
