/**
 * A git server over HTTP that asks for a token, with git's own `http-backend`, and beside it the
 * calls of a forge that Roost makes. How the forge answers is scripted.
 */
import { execFileSync, spawn } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ForgeAnswer } from './forge-answers.ts';
import { listen } from './sse-relay.ts';

interface OpenPull {
  readonly number: number;
  readonly head: string;
  readonly base: string;
  title: string;
  body: string;
  state: string;
}

/** How the forge meets the next call that writes. */
export type ForgeScript =
  | 'good'
  /** Does it, and breaks off its answer. */
  | 'lost'
  | { readonly status: number; readonly json?: object; readonly headers?: Readonly<Record<string, string>> };

export interface TestForge {
  readonly url: string;
  /** A bare repository. Returns its address. */
  repository(owner: string, name: string): { readonly address: string; readonly path: string };
  readonly pulls: readonly OpenPull[];
  /** The next calls that write are met so, in order; then all are good. */
  next(...scripts: readonly ForgeScript[]): void;
  /** All calls of its API, or all of git, are answered so. Null: as they should be. */
  lie(about: 'api' | 'git', answer: ForgeAnswer | null): void;
  /** Paths of all calls of the forge's API, with their method. */
  readonly calls: readonly string[];
  close(): Promise<void>;
}

const TOKEN = 'forge-token-1234567890';
export const FORGE_TOKEN = TOKEN;

/** `folder`: contains the repositories. */
export async function startForge(folder: string): Promise<TestForge> {
  const pulls: OpenPull[] = [];
  const calls: string[] = [];
  const scripts: ForgeScript[] = [];
  const lies: Record<'api' | 'git', ForgeAnswer | null> = { api: null, git: null };
  const root = join(folder, 'served');
  mkdirSync(root);

  function backend(request: IncomingMessage, response: ServerResponse, url: URL): void {
    const basic = /^Basic (.*)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
    if (Buffer.from(basic, 'base64').toString() !== `x-access-token:${TOKEN}`) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
      return;
    }
    const child = spawn('git', ['http-backend'], {
      env: {
        PATH: process.env['PATH'],
        GIT_PROJECT_ROOT: root,
        GIT_HTTP_EXPORT_ALL: '1',
        PATH_INFO: url.pathname,
        QUERY_STRING: url.search.slice(1),
        REQUEST_METHOD: request.method,
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        REMOTE_USER: 'agent',
        ...(request.headers['content-encoding'] === 'gzip' ? { HTTP_CONTENT_ENCODING: 'gzip' } : {}),
        GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      },
    });
    request.pipe(child.stdin);
    const pieces: Buffer[] = [];
    child.stdout.on('data', (piece: Buffer) => pieces.push(piece));
    child.on('close', () => {
      const all = Buffer.concat(pieces);
      const end = all.indexOf('\r\n\r\n');
      const headers = all.subarray(0, end).toString().split('\r\n');
      let status = 200;
      for (const line of headers) {
        const [name = '', value = ''] = line.split(': ', 2);
        if (name === 'Status') status = Number.parseInt(value, 10);
        else response.setHeader(name, value);
      }
      response.writeHead(status).end(all.subarray(end + 4));
    });
  }

  const shown = (pull: OpenPull) => ({
    number: pull.number,
    html_url: `http://forge.test/pulls/${pull.number}`,
    head: { ref: pull.head },
    state: pull.state,
  });
  async function api(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const text = Buffer.concat(pieces).toString();
    const body = text === '' ? {} : (JSON.parse(text) as Record<string, string>);
    calls.push(`${request.method} ${url.pathname}`);
    const say = (status: number, json: unknown, headers = {}) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(json));
    if (!request.headers.authorization?.endsWith(` ${TOKEN}`)) return void say(401, { message: 'Bad credentials' });
    if (request.method === 'GET') return void say(200, pulls.filter(({ state }) => state === 'open').map(shown));
    const script = scripts.shift() ?? 'good';
    if (typeof script === 'object')
      return void say(script.status, script.json ?? { message: 'scripted' }, script.headers);
    const number = Number(/\/pulls\/(\d+)$/.exec(url.pathname)?.[1] ?? 0);
    let pull = pulls.find((each) => each.number === number);
    if (pull) Object.assign(pull, body);
    else if (pulls.some(({ head, state }) => head === body['head'] && state === 'open'))
      return void say(422, { message: 'A pull request already exists' });
    else {
      pull = { number: pulls.length + 1, head: '', base: '', title: '', body: '', state: 'open', ...body };
      pulls.push(pull);
    }
    if (script === 'lost') return void request.socket.destroy();
    say(number === 0 ? 201 : 200, shown(pull));
  }

  const server = await listen((request, response) => {
    const url = new URL(request.url ?? '/', 'http://forge.test');
    const lie = lies[url.pathname.startsWith('/api/') ? 'api' : 'git'];
    if (lie !== null) {
      request.resume();
      lie(response, request);
    } else if (url.pathname.startsWith('/api/')) void api(request, response, url);
    else backend(request, response, url);
  });
  const { url } = server;
  return {
    url,
    pulls,
    calls,
    lie: (about, answer) => void (lies[about] = answer),
    next: (...given) => void scripts.push(...given),
    repository(owner, name) {
      const path = join(root, owner, `${name}.git`);
      execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', path]);
      return { address: `${url}/${owner}/${name}.git`, path };
    },
    close: () => server.close(),
  };
}
