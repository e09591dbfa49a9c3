/**
 * One picture that a model's server cannot read: it is found and left out, and the model sees all
 * others.
 */
import { deflateSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createAnthropicMind,
  type Mind,
  type MindBlock,
  type MindMessage,
} from '../../../../server/agents/minds/index.ts';
import {
  answers,
  says,
  startRawModel,
  type RawAnswer,
  type RawModel,
  type RawRequest,
} from '../../../support/raw-model.ts';
import { openSessionBench, type Bench } from '../../../support/session.ts';

let model: RawModel;
let bench: Bench;
const minds: Mind[] = [];
beforeAll(async () => {
  model = await startRawModel(() => answers([]));
  bench = await openSessionBench();
});
afterAll(async () => {
  await bench.close();
  for (const mind of minds) await mind.close();
  await model.close();
});
/** Each test has a mind that has learned nothing. */
function newMind(): Mind {
  const mind = createAnthropicMind({ key: null, baseUrl: model.url, queue: { breaks: 0, refusals: 0 } });
  minds.push(mind);
  return mind;
}

/** A PNG as far as its header goes. */
function png(width: number, height: number, body: string): string {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 0, 0, 0, 0], 8);
  const chunk = (type: string, data: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    return Buffer.concat([length, Buffer.from(type, 'latin1'), data, Buffer.alloc(4)]);
  };
  const bytes = [
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.from(body))),
    chunk('IEND', Buffer.alloc(0)),
  ];
  return Buffer.concat(bytes).toString('base64');
}
const picture = (name: string, data = png(2, 2, name)): MindBlock => ({
  kind: 'picture',
  name,
  picture: { type: 'image/png', data },
});
const shown = (...blocks: readonly MindBlock[]): MindMessage => ({ role: 'user', blocks });

const imagesIn = ({ text }: RawRequest) =>
  [...text.matchAll(/"media_type":"image\/png","data":"([^"]+)"/g)].map(([, data = '']) => data);
const refuses = (message: string, status = 400): RawAnswer => ({
  status,
  type: 'application/json',
  chunks: [JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message } })],
  headers: { 'x-should-retry': 'false' },
});
/** Refuses whatever shows one of these. */
const refusing =
  (bad: readonly string[], message = 'Could not process image', status = 400) =>
  (request: RawRequest): RawAnswer =>
    imagesIn(request).some((data) => bad.includes(data)) ? refuses(message, status) : answers(says(0, 'I see.'));

async function ask(mind: Mind, messages: readonly MindMessage[], name = 'local') {
  const left: (string | null)[] = [];
  const before = model.requests.length;
  const answer = await mind.answer(
    { priority: 'team', model: name, system: 'Look.', messages, tools: [], maxTokens: 100 },
    {
      onText: () => undefined,
      onLeftOut: (files) => left.push(...files.map((file) => file.name)),
      signal: new AbortController().signal,
    },
  );
  const requests = model.requests.slice(before);
  return { answer, left, asked: requests.length, seen: imagesIn(requests.at(-1) ?? ({ text: '' } as RawRequest)) };
}
const GOOD = ['a', 'b', 'c'].map((name) => png(2, 2, name));
const BAD = png(2, 2, 'bad');
const [A = '', B = '', C = ''] = GOOD;

describe('A picture that a server cannot read', () => {
  it.each([400, 422, 500])(
    'leaves out only the unreadable picture, and does not send it again after status %d',
    async (status) => {
      const mind = newMind();
      model.follow(refusing([BAD], 'Could not process image', status));
      const messages = [shown(picture('a.png', A), picture('bad.png', BAD), picture('b.png', B))];
      expect(await ask(mind, messages)).toMatchObject({ answer: { ok: true }, left: ['bad.png'], seen: [A, B] });
      const again = [
        ...messages,
        { role: 'assistant', blocks: [{ kind: 'text', text: 'I see.' }] },
        shown(picture('c.png', C)),
      ] as const;
      expect(await ask(mind, again)).toMatchObject({
        answer: { ok: true },
        left: ['bad.png'],
        seen: [A, B, C],
        asked: 1,
      });
    },
  );

  it('looks for the unreadable picture among the new ones first', async () => {
    const mind = newMind();
    model.follow(refusing([BAD]));
    const first = [shown(...GOOD.map((data, i) => picture(`${i}.png`, data)))];
    expect(await ask(mind, first)).toMatchObject({ answer: { ok: true }, asked: 1 });
    const said: MindMessage = { role: 'assistant', blocks: [{ kind: 'text', text: 'I see.' }] };
    expect(await ask(mind, [...first, said, shown(picture('bad.png', BAD))])).toMatchObject({ asked: 2, seen: GOOD });
  });

  it('finds several unreadable pictures, and sends later ones', async () => {
    const mind = newMind();
    const other = png(2, 2, 'worse');
    model.follow(refusing([BAD, other]));
    const both = [shown(picture('bad.png', BAD), picture('worse.png', other))];
    expect(await ask(mind, both)).toMatchObject({ answer: { ok: true }, left: ['bad.png', 'worse.png'], seen: [] });
    expect(await ask(mind, [shown(picture('a.png', A))])).toMatchObject({ answer: { ok: true }, left: [], seen: [A] });
  });

  it('does not send a picture without a pixel', async () => {
    const mind = newMind();
    const empty = png(0, 0, 'x');
    model.follow(refusing([empty]));
    expect(await ask(mind, [shown(picture('empty.png', empty), picture('a.png', A))])).toMatchObject({
      left: ['empty.png'],
      seen: [A],
      asked: 1,
    });
  });

  it("leaves an unreadable picture out of a tool's result", async () => {
    const mind = newMind();
    model.follow(refusing([BAD]));
    const result = (data: string): MindBlock => ({
      kind: 'tool-result',
      toolUseId: 't1',
      text: 'A picture.',
      isError: false,
      picture: { type: 'image/png', data },
    });
    const called: MindMessage = {
      role: 'assistant',
      blocks: [{ kind: 'tool-use', toolUseId: 't1', name: 'view_image', input: {} }],
    };
    expect(await ask(mind, [shown({ kind: 'text', text: 'Look.' }), called, shown(result(BAD))])).toMatchObject({
      answer: { ok: true },
      left: [null],
    });
    expect(model.requests.at(-1)?.text).toContain('could not be read by your server');
  });

  it('distinguishes an unreadable picture from a model without vision, which gets none afterwards', async () => {
    const mind = newMind();
    model.follow((request) =>
      imagesIn(request).length > 0 ? refuses('This model does not support image input') : answers(says(0, 'No.')),
    );
    expect(await ask(mind, [shown(picture('a.png', A))])).toMatchObject({ answer: { ok: true }, left: [], asked: 2 });
    expect(await ask(mind, [shown(picture('b.png', B))])).toMatchObject({ answer: { ok: true }, asked: 1 });
  });

  it('sends no pictures to a server that only ever refuses', async () => {
    const mind = newMind();
    model.follow((request) => (imagesIn(request).length > 0 ? refuses('bad request') : answers(says(0, 'No.'))));
    for (const data of GOOD)
      expect(await ask(mind, [shown(picture('x.png', data))])).toMatchObject({ answer: { ok: true } });
    expect(await ask(mind, [shown(picture('bad.png', BAD))])).toMatchObject({ asked: 1, left: [] });
  });

  it('tells the person once about an unreadable picture', async () => {
    const mind = newMind();
    model.follow(refusing([BAD]));
    const house = await bench.open({ mind });
    await house.start();
    const lines = () => house.of('message').filter(({ author }) => author === 'relay');
    const send = async (text: string, name: string, data: string) => {
      const spoken = () => house.of('message').filter(({ author }) => author === 'lead').length;
      const before = spoken();
      const bytes = Buffer.from(data, 'base64').length;
      await house.post({ text, attachments: [{ attachmentId: name, name, mediaType: 'image/png', bytes, data }] });
      await house.until(() => spoken() > before);
    };
    await send('Look at this.', 'bad.png', BAD);
    await send('And this.', 'a.png', A);
    expect(lines()).toMatchObject([{ blocks: [{ text: expect.stringContaining('could not read “bad.png”') }] }]);
    expect(imagesIn(model.requests.at(-1) ?? ({ text: '' } as RawRequest))).toEqual([A]);
  });
});
