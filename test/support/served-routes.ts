/** Calls of one part of the relay, served over HTTP by themselves. */
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { mount, type Env, type Handled } from '../../server/http/endpoint.ts';

export interface ServedRoutes {
  readonly url: string;
  /** An object as `json` is sent as such. */
  call(
    method: string,
    path: string,
    json?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<{ readonly status: number; readonly body: unknown }>;
  close(): Promise<void>;
}

export async function serveRoutes(endpoints: readonly Handled[]): Promise<ServedRoutes> {
  const app = new Hono<Env>();
  app.onError((error) => {
    if (error instanceof HTTPException) return error.getResponse();
    throw error;
  });
  mount(app, endpoints);
  const answer = getRequestListener((request, env) => app.fetch(request, env));
  const server = createServer((incoming, outgoing) => void answer(incoming, outgoing));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  const url = `http://127.0.0.1:${address.port}`;
  return {
    url,
    async call(method, path, json, headers = {}) {
      const body = json === undefined ? {} : { body: JSON.stringify(json) };
      const response = await fetch(new URL(path, url), {
        method,
        headers: { 'content-type': 'application/json', ...headers },
        ...body,
      });
      const text = await response.text();
      return { status: response.status, body: text === '' ? null : (JSON.parse(text) as unknown) };
    },
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error ? reject(error) : resolve()));
        server.closeAllConnections();
      }),
  };
}
