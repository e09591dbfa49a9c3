/** Bodies as they are, where a server packs them although it was asked not to: in a packed one nothing can be counted or taken out. */
import { pipeline, Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { UpstreamAnswer } from './upstream.ts';

const UNPACKERS = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
} as const;
const isPacking = (name: string): name is keyof typeof UNPACKERS => Object.hasOwn(UNPACKERS, name);

/** Throws where it is packed in a way that is not known here. */
export function unpacked({ headers, body }: UpstreamAnswer): AsyncIterable<Uint8Array> {
  const ways = (headers['content-encoding'] ?? '')
    .split(',')
    .map((way) => way.trim().toLowerCase())
    .filter((way) => way !== '' && way !== 'identity');
  return ways.reduceRight<AsyncIterable<Uint8Array>>((packed, way) => {
    if (!isPacking(way)) throw new Error(`it packs its answers as “${way.slice(0, 40)}”`);
    // What breaks off is told by reading the last of them.
    return pipeline(Readable.from(packed), UNPACKERS[way](), () => undefined);
  }, body);
}
