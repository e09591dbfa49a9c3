/** A model of the second household that breaks every rule of its stream. */
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Attack, Attacker } from '../attack.ts';
import { answersWell, BEGINNING, sse, type OddAnswer } from '../servers.ts';

const START = sse('message_start', BEGINNING);
const block = (index: number, content_block: object) => sse('content_block_start', { index, content_block });
const words = (index: number, text: string) =>
  sse('content_block_delta', { index, delta: { type: 'text_delta', text } });
const STOP = `${sse('message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: -5 } })}${sse('message_stop', {})}`;
const open = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' });
const nested = (levels: number) => `${'[{"a":'.repeat(levels)}1${'}]'.repeat(levels)}`;

/** Sizes as chance has them. */
const answers = ({ int, bytes }: Pick<Attacker, 'int' | 'bytes'>): readonly OddAnswer[] => [
  (response) =>
    void open(response).end(
      `${START}${block(0, { type: 'text', text: '' })}${words(0, 'x'.repeat(int(1, 400_000)))}${STOP}`,
    ),
  async (response) => {
    open(response).write(`${START}${block(0, { type: 'text', text: '' })}`);
    for (let left = int(100, 2_000); left > 0 && !response.destroyed; left--) response.write(words(0, `w${left} `));
    await sleep(int(1, 500));
    response.destroy();
  },
  (response) =>
    void open(response).end(
      `${START}${block(0, { type: 'tool_use', id: 't', name: 'write_file', input: {} })}${sse('content_block_delta', { index: 0, delta: { type: 'input_json_delta', partial_json: nested(int(10, 20_000)) } })}${sse('content_block_stop', { index: 0 })}${STOP}`,
    ),
  (response) =>
    void open(response).end(`${words(7, 'before it began')}${STOP}${START}${sse('content_block_stop', { index: 99 })}`),
  (response) => void open(response).end(bytes(int(1, 20_000))),
  (response) => void open(response).end(`data: ${'{"type":"ping","x":"'.padEnd(int(100, 300_000), 'y')}`),
  (response) =>
    void response.writeHead(int(100, 999) < 200 ? 500 : int(200, 599), { 'content-type': 'application/json' }).end('{'),
  (response) => void response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
  (response) =>
    void open(response).end(
      `${START}${Array.from({ length: int(10, 500) }, (_, i) => `${block(i, { type: 'text', text: '' })}${words(i, '\u202e\u0000')}`).join('')}${STOP}`,
    ),
  (response) => void response.socket?.end('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nlonger than it says'),
];

export const models: Attack = {
  name: 'models',
  inSession: true,
  async run({ servers, of, int, bytes, call, begin }) {
    servers.odd(answersWell);
    if (!(await begin('odd'))) return;
    servers.odd(of(answers({ int, bytes })));
    for (let left = int(1, 3); left > 0; left--)
      await call('POST', '/api/messages', { json: { text: 'Hm.', clientId: `o-${int(0, 1e9)}` } });
    await sleep(int(200, 1_500));
    await call('POST', '/api/agents/lead/stop');
    servers.odd(answersWell);
  },
};
