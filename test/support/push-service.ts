/**
 * A push service of the tests' own: it gives out subscriptions, checks who pushes (RFC 8292), and
 * opens what is pushed (RFC 8188, 8291) by itself.
 */
import { createDecipheriv, createECDH, createPublicKey, hkdfSync, randomBytes, verify } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import {
  pushPayloadSchema,
  type PushPayload,
  type PushSubscriptionJson,
} from '../../src/shared/protocol/notifications.ts';

const claimsSchema = z.object({ aud: z.string(), exp: z.number(), sub: z.string() });
const jsonOf = (part: string): unknown => JSON.parse(Buffer.from(part, 'base64url').toString());

export interface Push {
  readonly device: string;
  readonly payload: PushPayload;
  readonly ttl: number;
  readonly topic: string | undefined;
  readonly urgency: string | undefined;
  readonly sub: string;
}

/** Who signed this push, by their key; throws where it is not signed as it must be. */
function checkVapid(authorization: string, origin: string) {
  const [, jwt = '', key = ''] = /^vapid t=([^,]+), ?k=(.+)$/.exec(authorization) ?? [];
  const [head = '', claims = '', signature = ''] = jwt.split('.');
  const point = Buffer.from(key, 'base64url');
  const publicKey = createPublicKey({
    format: 'jwk',
    key: {
      kty: 'EC',
      crv: 'P-256',
      x: point.subarray(1, 33).toString('base64url'),
      y: point.subarray(33).toString('base64url'),
    },
  });
  const signed = verify(
    'sha256',
    Buffer.from(`${head}.${claims}`),
    { key: publicKey, dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  );
  const { aud, exp, sub } = claimsSchema.parse(jsonOf(claims));
  const seconds = Date.now() / 1_000;
  if (!signed || aud !== origin || exp <= seconds || exp > seconds + 24 * 3_600)
    throw new Error('The signature is not good.');
  return { key, sub };
}

/** Opens one record, which is all that a push may have. */
function open(body: Buffer, keys: ReturnType<typeof createECDH>, auth: Buffer): string {
  const [salt, idLength] = [body.subarray(0, 16), body.readUInt8(20)];
  const sender = body.subarray(21, 21 + idLength);
  const sealed = body.subarray(21 + idLength);
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), keys.getPublicKey(), sender]);
  const secret = Buffer.from(hkdfSync('sha256', keys.computeSecret(sender), auth, info, 32));
  const key = Buffer.from(hkdfSync('sha256', secret, salt, 'Content-Encoding: aes128gcm\0', 16));
  const nonce = Buffer.from(hkdfSync('sha256', secret, salt, 'Content-Encoding: nonce\0', 12));
  const cipher = createDecipheriv('aes-128-gcm', key, nonce).setAuthTag(sealed.subarray(-16));
  const text = Buffer.concat([cipher.update(sealed.subarray(0, -16)), cipher.final()]);
  // What ends the last record.
  if (text.at(-1) !== 2) throw new Error('The record does not end.');
  return text.subarray(0, -1).toString();
}

export async function startPushService() {
  const pushes: Push[] = [];
  const devices = new Map<string, { ecdh: ReturnType<typeof createECDH>; auth: Buffer; key: string }>();
  /**
   * Statuses that come instead of 201, with `retry-after` where one is given, one for each of the
   * next pushes to a device.
   */
  const answers = new Map<string, (number | readonly [status: number, retryAfter: string])[]>();
  const refused: string[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const name = request.url?.slice(1) ?? '';
      const answer = answers.get(name)?.shift();
      if (answer !== undefined) {
        const [status, retryAfter] = typeof answer === 'number' ? [answer] : answer;
        return void response.writeHead(status, retryAfter === undefined ? {} : { 'retry-after': retryAfter }).end();
      }
      try {
        const device = devices.get(name);
        if (!device || request.method !== 'POST') throw new Error('There is no such device.');
        const { key, sub } = checkVapid(request.headers.authorization ?? '', origin);
        if (key !== device.key) throw new Error('It was signed by another key.');
        if (request.headers['content-encoding'] !== 'aes128gcm') throw new Error('It is not sealed.');
        const header = (of: string) => request.headers[of]?.toString();
        pushes.push({
          device: name,
          payload: pushPayloadSchema.parse(JSON.parse(open(Buffer.concat(pieces), device.ecdh, device.auth))),
          ttl: Number(header('ttl')),
          topic: header('topic'),
          urgency: header('urgency'),
          sub,
        });
        response.writeHead(201).end();
      } catch (error) {
        refused.push(String(error));
        response.writeHead(403).end();
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    pushes,
    refused,
    answers,
    /** `key`: the relay's, to which alone the subscription listens. */
    subscribe(device: string, key: string): PushSubscriptionJson {
      const ecdh = createECDH('prime256v1');
      const auth = randomBytes(16);
      const p256dh = ecdh.generateKeys('base64url');
      devices.set(device, { ecdh, auth, key });
      return { endpoint: `${origin}/${device}`, keys: { p256dh, auth: auth.toString('base64url') } };
    },
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
