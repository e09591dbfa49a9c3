import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listen, type HttpServer } from '../../../server/http/listen.ts';
import { createPageRoutes } from '../../../server/startup/app.ts';
import { rawRequest } from '../../support/raw-http.ts';

const INDEX = '<!doctype html><title>Roost</title>';
const SCRIPT = `console.log(${JSON.stringify('hello '.repeat(1_000))})`;
const NAVIGATION = { accept: 'text/html' };

async function serve(folder: string): Promise<HttpServer> {
  const app = new Hono();
  app.onError((error) => {
    if (error instanceof HTTPException) return error.getResponse();
    throw error;
  });
  app.route('/', createPageRoutes(folder));
  const http = await listen({ host: '127.0.0.1', port: 0 });
  http.serve(getRequestListener(app.fetch));
  return http;
}

describe('the page', () => {
  let folder: string;
  let http: HttpServer;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'roost-page-'));
    await mkdir(join(folder, 'page/assets'), { recursive: true });
    await writeFile(join(folder, 'page/index.html'), INDEX);
    await writeFile(join(folder, 'page/assets/index-abc123.js'), SCRIPT);
    await writeFile(join(folder, 'page/assets/index-abc123.js.br'), brotliCompressSync(SCRIPT));
    await writeFile(join(folder, 'page/icon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
    await writeFile(join(folder, 'page/manifest.webmanifest'), '{"name":"Roost"}');
    await writeFile(join(folder, 'page/service-worker.js'), SCRIPT);
    await writeFile(join(folder, 'secret.txt'), 'not for anyone');
    http = await serve(join(folder, 'page'));
  });
  afterAll(async () => {
    await http.close();
    await rm(folder, { recursive: true, force: true });
  });
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    rawRequest({ port: http.port, path, method, headers });

  it('answers with the page at every path of it, because the address is its state', async () => {
    for (const path of ['/', '/index.html', '/seat/3', '/settings?tab=models', '/agents/%E2%9C%A8', '/no-such.js']) {
      const { status, text, headers } = await get(path, NAVIGATION);
      expect([status, text], path).toEqual([200, INDEX]);
      expect(headers['content-type']).toBe('text/html; charset=utf-8');
      expect(headers['cache-control']).toBe('no-cache');
    }
  });

  it('does not answer with the page for a missing file', async () => {
    for (const path of ['/no-such.js', '/assets/none.js', '/favicon.ico'])
      expect((await get(path, { accept: '*/*' })).status, path).toBe(404);
  });

  it('revalidates the page, and caches files with a hash in their names forever', async () => {
    const index = await get('/', NAVIGATION);
    const etag = String(index.headers['etag']);
    const again = await get('/', { ...NAVIGATION, 'if-none-match': etag });
    expect([again.status, again.text]).toEqual([304, '']);
    const script = await get('/assets/index-abc123.js');
    expect(script.text).toBe(SCRIPT);
    expect(script.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(script.headers['content-type']).toMatch(/^text\/javascript/);
    expect((await get('/icon.svg')).headers['content-type']).toMatch(/^image\/svg\+xml/);
  });

  it('serves the manifest with its type, and revalidates it each time', async () => {
    const [manifest, worker] = [await get('/manifest.webmanifest'), await get('/service-worker.js')];
    expect(manifest.headers['content-type']).toMatch(/^application\/manifest\+json/);
    expect(worker.headers['content-type']).toMatch(/^text\/javascript/);
    for (const { headers } of [manifest, worker]) expect(headers['cache-control']).toBe('no-cache');
  });

  it('travels compressed to whoever takes that', async () => {
    for (const [accepted, sent] of [
      ['gzip, deflate, br, zstd', 'br'],
      ['gzip', 'gzip'],
    ] as const) {
      const response = await fetch(`http://127.0.0.1:${http.port}/assets/index-abc123.js`, {
        headers: { 'accept-encoding': accepted },
      });
      expect(response.headers.get('content-encoding')).toBe(sent);
      expect(response.headers.get('content-type')).toMatch(/^text\/javascript/);
      expect(response.headers.get('vary')?.toLowerCase()).toContain('accept-encoding');
      expect(await response.text()).toBe(SCRIPT);
    }
    const plain = await get('/assets/index-abc123.js', { 'accept-encoding': 'identity' });
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(plain.text).toBe(SCRIPT);
  });

  it.each(['bytes=0-1', 'bytes=9-1', 'bytes=-', 'nonsense'])('sends the whole page for the range %j', async (range) => {
    const answer = await get('/', { ...NAVIGATION, range });
    expect([answer.status, answer.text]).toEqual([200, INDEX]);
  });

  it('opens no way to files beside it', async () => {
    for (const path of [
      '/../secret.txt',
      '/..%2fsecret.txt',
      '/%2e%2e/secret.txt',
      '/assets/..%2f..%2fsecret.txt',
      '/..%5csecret.txt',
      '//secret.txt',
      '/%00',
    ])
      expect((await get(path)).text, path).not.toContain('not for anyone');
  });

  it('refuses to write the page', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
      const { status, headers } = await get('/', NAVIGATION, method);
      expect([status, headers['allow']], method).toEqual([405, 'GET, HEAD']);
    }
    expect(await get('/', NAVIGATION, 'HEAD')).toMatchObject({ status: 200, text: '' });
  });

  it('says what to do where it was not built', async () => {
    const unbuilt = await serve(join(folder, 'nothing'));
    const { status, text } = await rawRequest({ port: unbuilt.port, path: '/', headers: NAVIGATION });
    await unbuilt.close();
    expect(status).toBe(503);
    expect(text).toContain('npm run build');
  });
});
