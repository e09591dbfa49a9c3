/**
 * Answers of a forge that means harm: about its requests, and about its repository. They never end,
 * lie, break off, or redirect to an inner address.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';

export type ForgeAnswer = (response: ServerResponse, request: IncomingMessage) => void;

const MB = 1_000_000;
const COMMIT = '1'.repeat(40);
/** MB after which an endless answer ends by itself. */
const MOST_SENT = 200;

export const jsonAnswer = (response: ServerResponse, value: unknown, status = 200): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));

/** Writes until nobody reads any more. */
function endless(response: ServerResponse, beginning: string, onSent: (bytes: number) => void): void {
  response.writeHead(200, { 'content-type': 'application/json' }).write(beginning);
  const piece = Buffer.alloc(MB, 0x20);
  let sentMb = 0;
  const more = () => {
    if (response.destroyed || sentMb > MOST_SENT) return void response.destroy();
    sentMb += 1;
    onSent(MB);
    response.write(piece, () => setImmediate(more));
  };
  more();
}

/** To a call of the forge's API. `inner`: an address that no call may reach. */
export const apiAnswers = (
  inner: string,
  onSent: (bytes: number) => void = () => undefined,
): Readonly<Record<string, ForgeAnswer>> => ({
  'an answer without end': (response) => endless(response, '[', onSent),
  'an answer nested without end': (response) => void response.end('['.repeat(100_000)),
  'no JSON': (response) => void response.end('<html>'),
  'an object in place of a list': (response) => jsonAnswer(response, { number: 1 }),
  'half an answer': (response) => void response.destroy(),
  'a redirect': (response) => void response.writeHead(302, { location: `${inner}/` }).end(),
  'a redirect of the whole call': (response) => void response.writeHead(308, { location: `${inner}/` }).end(),
  'a refusal of five megabytes': (response) => jsonAnswer(response, { message: 'x'.repeat(5 * MB) }, 400),
});

/** Addresses of a request's page that no page may link to. */
export const BAD_PAGES = [
  'javascript:alert(1)',
  'data:text/html,x',
  'https://1.1.1.1\\@inside/x',
  'no address',
  ' https://x/',
] as const;
/** The forge says that a request is open, at this address. */
export const pageAnswer =
  (address: string, branch: string): ForgeAnswer =>
  (response, { method }) =>
    jsonAnswer(response, method === 'GET' ? [] : { number: 1, html_url: address, head: { ref: branch } });

const packetLine = (text: string) => `${(text.length + 4).toString(16).padStart(4, '0')}${text}`;
function advertise(response: ServerResponse, { url = '' }: IncomingMessage, refs: readonly string[]): void {
  const service = /service=(git-[a-z-]+)/.exec(url)?.[1];
  response.writeHead(200, { 'content-type': `application/x-${service}-advertisement` });
  response.end(`${packetLine(`# service=${service}\n`)}0000${refs.map(packetLine).join('')}0000`);
}

/** To a fetch or a push of git. `inner`: an address that no call may reach. */
export const gitAnswers = (inner: string): Readonly<Record<string, ForgeAnswer>> => ({
  ...Object.fromEntries(
    [301, 302, 303, 307, 308].map((status): [string, ForgeAnswer] => [
      `a redirect with ${status}`,
      (response) => void response.writeHead(status, { location: `${inner}/x/info/refs?service=git-upload-pack` }).end(),
    ]),
  ),
  /** As a server of plain files, that names other places where its objects lie. */
  'objects that lie elsewhere': (response, { url = '' }) => {
    if (url.includes('/info/refs')) return void response.end(`${COMMIT}\trefs/heads/main\n`);
    if (url.endsWith('/HEAD')) return void response.end('ref: refs/heads/main\n');
    if (url.endsWith('alternates')) return void response.end(`${inner}/objects\n/x\n`);
    response.writeHead(404).end();
  },
  'a redirect after a list of branches': (response, request) => {
    const { method, url = '' } = request;
    if (method === 'POST') return void response.writeHead(307, { location: `${inner}${url}` }).end();
    advertise(response, request, [`${COMMIT} refs/heads/main\0report-status\n`]);
  },
  'branches without number': (response, request) =>
    advertise(
      response,
      request,
      Array.from(
        { length: 100_000 },
        (_none, i) => `${COMMIT} refs/heads/b${i}${i === 0 ? '\0report-status side-band-64k' : ''}\n`,
      ),
    ),
  'a pack that is none': (response, request) => {
    if (request.method !== 'POST')
      return advertise(response, request, [`${COMMIT} refs/heads/main\0report-status side-band-64k\n`]);
    response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-result' });
    response.end(`0008NAK\nPACK\0\0\0\x02\xff\xff\xff\xff${'x'.repeat(MB)}`);
  },
  'an answer byte by byte that breaks off': (response) => {
    let left = 20;
    const more = () => {
      if (left-- === 0 || response.destroyed) return void response.destroy();
      response.write('0');
      setTimeout(more, 50);
    };
    more();
  },
});
