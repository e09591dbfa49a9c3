/**
 * The way into a session for nobody: HTTP on a port of its own, with the routes, bodies and streams by which a page comes
 * into a real one. What reads a WAKE of two hundred kilobytes, and what tells a page of it, is compiled by that.
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { LIMITS } from '../../src/protocol/limits.ts';
import { limitBody } from '../body.ts';
import type { OpenSessionDoor } from '../contracts.ts';
import { mount, type Env } from '../endpoint.ts';
import { problem } from '../problem.ts';
import { createStreams } from '../stream.ts';
import { createSessionRoutes } from './session-routes.ts';

export const openWarmDoor: OpenSessionDoor = async (host, log) => {
  // Others on this machine have no business here.
  const bearer = `Bearer ${randomUUID()}`;
  const streams = createStreams({
    log,
    host,
    version: 'warm',
    bufferBytes: LIMITS.bodyBytes,
    // A page that leaves.
    onError: () => undefined,
  });
  const app = new Hono<Env>();
  app.use('/api/*', async ({ req }, next) => {
    if (req.header('authorization') !== bearer) throw problem(401, 'not-signed-in', 'Nobody lives here.');
    await next();
  });
  app.use('/api/*', limitBody());
  mount(app, createSessionRoutes({ host, runs: { stop: () => false }, log, streams, checkStreams: () => undefined }));
  const server = createServer(getRequestListener(app.fetch));
  const port = await new Promise<number>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address ? address.port : 0);
    });
  });
  const url = `http://127.0.0.1:${port}`;
  async function send(path: string, body: unknown): Promise<void> {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: bearer, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const said = await response.text();
    if (!response.ok) throw new Error(`${path} of nobody answered ${response.status}: ${said}`);
  }
  const leaving = new AbortController();
  const page = await fetch(`${url}/api/events`, { headers: { authorization: bearer }, signal: leaving.signal });
  // As a page reads; it ends when the page leaves.
  const read = page.body?.pipeTo(new WritableStream()).catch(() => undefined);
  return {
    start: (request) => send('/api/sessions', request),
    post: (message) => send('/api/messages', message),
    async close() {
      leaving.abort();
      await read;
      streams.close();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
};
