/**
 * The cryptography of synchronisation. `../SPEC.md` specifies every format byte for byte, and
 * `test/unit/worker/sync/crypto/vectors.json` has an example of each.
 *
 * Main functions: `sealEntry` and `openEntry` (entries that devices exchange), `sealBox` (for one
 * receiver), `newHousehold` and `renewed` (keys and their rotation), `newPhrase` (recovery),
 * `newInvitation` (pairing).
 *
 * Invariants:
 * - Each key serves one purpose. The labels in `settings.ts` keep them apart.
 * - A sealed entry is bound to its household, writer and counter. It opens in no other place.
 * - Every function is pure: randomness is an argument.
 *
 * It does not know where keys are stored or who may have them.
 */
export { base64url, fromBase64url, newId } from './bytes.ts';
export { sealBox } from './box.ts';
export { deviceIdOf, deviceKeys, type DeviceKeys, type DevicePublicKeys } from './device.ts';
export { digestOf, epochOf, openEntry, sealEntry, isSignedBy, relayAuth, streamOf, newWriter } from './entry.ts';
export { keyOf, newest, newHousehold, readKeys, renewed, writeKeys } from './keyring.ts';
export {
  newOffer,
  readOffer,
  newInvitation,
  openJoined,
  openWelcome,
  pairingWords,
  readFace,
  sealJoined,
  sealWelcome,
  writeFace,
  type PairingFace,
  type PairingSide,
} from './pairing.ts';
export { newPhrase, recoveryOf } from './recovery.ts';
export { openSignal, sealSignal } from './signal.ts';
