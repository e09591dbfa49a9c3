import { createDecipheriv, createHmac, hkdfSync, scryptSync } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXPORT_FORMAT } from '../../../../src/page/exports/methods.ts';
import { messageDoc } from '../../../support/documents.ts';
import { bytesOf, exportOf } from './support.ts';

const BLOCK = 64 * 1024 + 16;

function opened(key: Uint8Array, nonce: Uint8Array, sealed: Uint8Array): Buffer {
  const decipher = createDecipheriv('chacha20-poly1305', key, nonce, { authTagLength: 16 });
  decipher.setAuthTag(sealed.subarray(-16));
  return Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
}

/**
 * Opens a file under a passphrase by the words of https://age-encryption.org/v1, with Node's own
 * cryptography alone.
 */
function openByTheBook(file: Buffer, passphrase: string): Buffer {
  const header = /^(age-encryption\.org\/v1\n-> scrypt (\S+) (\d+)\n(\S+)\n---) (\S+)\n/.exec(file.toString('latin1'));
  const [whole = '', beforeMac = '', salt = '', work = '', body = '', mac = ''] = header ?? [];
  const salted = Buffer.concat([Buffer.from('age-encryption.org/v1/scrypt'), Buffer.from(salt, 'base64')]);
  const wrap = scryptSync(passphrase, salted, 32, { N: 2 ** Number(work), r: 8, p: 1, maxmem: 2 ** 30 });
  const fileKey = opened(wrap, new Uint8Array(12), Buffer.from(body, 'base64'));
  const macKey = new Uint8Array(hkdfSync('sha256', fileKey, '', 'header', 32));
  expect(createHmac('sha256', macKey).update(beforeMac).digest('base64').replace(/=+$/, '')).toBe(mac);
  const key = new Uint8Array(
    hkdfSync('sha256', fileKey, file.subarray(whole.length, whole.length + 16), 'payload', 32),
  );
  const payload = file.subarray(whole.length + 16);
  const blocks: Buffer[] = [];
  for (let at = 0; at < payload.length; at += BLOCK) {
    const nonce = Buffer.alloc(12);
    nonce.writeUInt32BE(blocks.length, 7);
    nonce[11] = at + BLOCK >= payload.length ? 1 : 0;
    blocks.push(opened(key, nonce, payload.subarray(at, at + BLOCK)));
  }
  return Buffer.concat(blocks);
}

describe('A copy under a passphrase', () => {
  // The file says its work factor. That it is the real one is looked at in `household.test.ts`.
  const { scryptLogN } = EXPORT_FORMAT;
  beforeAll(() => void Object.assign(EXPORT_FORMAT, { scryptLogN: 12 }));
  afterAll(() => void Object.assign(EXPORT_FORMAT, { scryptLogN }));

  it('opens without Roost, by what the age format says', async () => {
    const texts = Array.from({ length: 12 }, (_, n) =>
      Array.from({ length: 20_000 }, (__, i) =>
        String.fromCharCode(0x4e00 + ((n * 7919 + i * i * 104_729) % 20_000)),
      ).join(''),
    );
    const docs = texts.map((text, n) => messageDoc(n, { blocks: [{ kind: 'text', text }] }));
    const file = Buffer.from(await bytesOf(await exportOf(docs, 'corr\u00e9ct horse')));
    expect(file.length).toBeGreaterThan(2 * BLOCK);
    const lines = gunzipSync(openByTheBook(file, 'corr\u00e9ct horse')).toString('utf8').trimEnd().split('\n');
    expect(lines.slice(1, -1).sort()).toEqual(docs.map((doc) => JSON.stringify(doc)).sort());
  });
});
