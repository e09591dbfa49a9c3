/** The cryptography of synchronisation. Its formats are in ../README.md, byte for byte. */
export { base64url, fromBase64url, newId } from './bytes.ts';
export { sealBox } from './box.ts';
export { deviceIdOf, deviceKeys, type DeviceKeys, type DevicePublicKeys } from './device.ts';
export { digestOf, epochOf, openEntry, sealEntry, isSignedBy, relayAuth, streamOf, newWriter } from './entry.ts';
export { keyOf, newest, newHousehold, readKeys, renewed, writeKeys } from './keyring.ts';
export { newOffer, readOffer } from './offer.ts';
export {
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
