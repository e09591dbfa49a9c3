/**
 * The cryptography a second time, with nothing but Node's own: what the vectors are checked with.
 */
import {
  createCipheriv,
  createHmac,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  hkdfSync,
  sign,
} from 'node:crypto';

export const fromHex = (text: string) => Buffer.from(text, 'hex');
export const hkdf = (secret: Buffer, salt: Buffer, info: string, length: number) =>
  Buffer.from(hkdfSync('sha256', secret, salt, info, length)).toString('hex');
export const hmac = (key: Buffer, message: Buffer) => createHmac('sha256', key).update(message).digest('hex');

const PRIVATE = { X25519: '302e020100300506032b656e04220420', Ed25519: '302e020100300506032b657004220420' };
const PUBLIC_X25519 = '302a300506032b656e032100';
const privateKey = (curve: keyof typeof PRIVATE, secret: Buffer) =>
  createPrivateKey({ key: Buffer.concat([fromHex(PRIVATE[curve]), secret]), format: 'der', type: 'pkcs8' });

/** The public key of a secret, as base64url. */
export const publicKey = (curve: keyof typeof PRIVATE, secret: Buffer) =>
  createPublicKey(privateKey(curve, secret)).export({ format: 'jwk' }).x;
export const signature = (seed: Buffer, message: Buffer) =>
  sign(null, message, privateKey('Ed25519', seed)).toString('base64url');
export const shared = (secret: Buffer, other: Buffer) =>
  diffieHellman({
    privateKey: privateKey('X25519', secret),
    publicKey: createPublicKey({ key: Buffer.concat([fromHex(PUBLIC_X25519), other]), format: 'der', type: 'spki' }),
  }).toString('hex');

const QUARTERS = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
] as const;

/** HChaCha20 (draft-irtf-cfrg-xchacha-03, section 2.2): `nonce` has 16 bytes. */
export function hchacha20(key: Buffer, nonce: Buffer): Buffer {
  const input = Buffer.concat([Buffer.from('expand 32-byte k'), key, nonce]);
  const state = Uint32Array.from({ length: 16 }, (_, at) => input.readUInt32LE(at * 4));
  const mix = (sum: number, add: number, turned: number, by: number) => {
    state[sum] = (state[sum] ?? 0) + (state[add] ?? 0);
    const both = (state[turned] ?? 0) ^ (state[sum] ?? 0);
    state[turned] = (both << by) | (both >>> (32 - by));
  };
  for (let round = 0; round < 10; round += 1) {
    for (const [a, b, c, d] of QUARTERS) {
      mix(a, b, d, 16);
      mix(c, d, b, 12);
      mix(a, b, d, 8);
      mix(c, d, b, 7);
    }
  }
  const output = Buffer.alloc(32);
  [0, 1, 2, 3, 12, 13, 14, 15].forEach((word, at) => output.writeUInt32LE(state[word] ?? 0, at * 4));
  return output;
}

/** XChaCha20-Poly1305: ciphertext and tag. */
export function xchacha20poly1305(key: Buffer, nonce: Buffer, aad: Buffer, plaintext: Buffer): Buffer {
  const subkey = hchacha20(key, nonce.subarray(0, 16));
  const cipher = createCipheriv('chacha20-poly1305', subkey, Buffer.concat([Buffer.alloc(4), nonce.subarray(16)]), {
    authTagLength: 16,
  });
  cipher.setAAD(aad, { plaintextLength: plaintext.length });
  return Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
}

/** Padmé, as its authors write it down, with a least size. */
export function padme(length: number): number {
  if (length <= 256) return 256;
  const exponent = Math.floor(Math.log2(length));
  const significant = Math.floor(Math.log2(exponent)) + 1;
  const mask = (1 << (exponent - significant)) - 1;
  return (length + mask) & ~mask;
}

const toBinary = (bytes: Buffer) => [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');

/** Numbers of 11 bits, from the front. */
export const elevenBits = (bytes: Buffer) => (toBinary(bytes).match(/.{11}/gu) ?? []).map((bits) => parseInt(bits, 2));

/** Crockford's Base32. */
export function base32(bytes: Buffer): string {
  const groups = toBinary(bytes).match(/.{1,5}/gu) ?? [];
  return groups.map((bits) => '0123456789ABCDEFGHJKMNPQRSTVWXYZ'.charAt(parseInt(bits.padEnd(5, '0'), 2))).join('');
}
