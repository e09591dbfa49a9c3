import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createConversation, createWindow } from '../../../../server/agents/runs/conversation.ts';
import { SESSION_LIMITS } from '../../../../server/agents/session/settings.ts';
import { cutMiddle } from '../../../../src/shared/domain/cut-middle.ts';
import { messageBatch } from '../../../../src/shared/domain/message-batch.ts';
import { momentText, spanText } from '../../../../src/shared/domain/zone-days.ts';
import { anyText } from './arbitraries.ts';

describe('a text without its middle', () => {
  it('keeps both ends of a text, never makes it longer, and keeps it well-formed', () => {
    fc.assert(
      fc.property(anyText, fc.nat(400), (text, most) => {
        const long = text.repeat(20);
        const cut = cutMiddle(long, most);
        expect(cut.length).toBeLessThanOrEqual(Math.max(long.length, 0));
        if (long.length <= most) expect(cut).toBe(long);
      }),
    );
    const pairs = cutMiddle('🕊️'.repeat(500), 301);
    expect(pairs).not.toMatch(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/);
    expect(pairs).toMatch(/\[1,\d{3} characters were left out here\]/);
  });
});

describe('a batch of messages', () => {
  const message = (from: string, size: number) => ({ from, text: 'x'.repeat(size) });
  it("keeps all of the person’s messages, and at least one of the others' and as many as fit", () => {
    const waiting = [message('a', 600), message('a', 600), message('human', 5_000), message('a', 1)];
    expect(messageBatch(waiting, { count: 9, characters: 1_000, personCharacters: 5_000 })).toEqual([
      waiting[0],
      waiting[2],
    ]);
    expect(
      messageBatch([message('a', 600), message('a', 300), message('a', 300)], {
        count: 9,
        characters: 1_000,
        personCharacters: 5_000,
      }),
    ).toHaveLength(2);
    expect(
      messageBatch([message('a', 1), message('a', 1), message('a', 1)], {
        count: 2,
        characters: 1_000,
        personCharacters: 5_000,
      }),
    ).toHaveLength(2);
  });
});

describe('time in words', () => {
  it('states times on the household’s wall clock', () => {
    expect(momentText(Date.UTC(2026, 10, 23, 7, 5), 'Europe/Berlin')).toBe('Monday 23 November 2026, 08:05');
    expect(momentText(Date.UTC(2026, 10, 23, 0, 5), 'America/New_York')).toBe('Sunday 22 November 2026, 19:05');
  });
  it.each([
    [20_000, 'less than a minute'],
    [60_000, '1 minute'],
    [59 * 60_000, '59 minutes'],
    [100 * 60_000, '100 minutes'],
    [9 * 3_600_000, '9 hours'],
    [5 * 86_400_000, '5 days'],
  ])('%i ms are %s', (ms, text) => {
    expect(spanText(ms)).toBe(text);
  });
});

it('2,000 turns against a small window: valid, small enough, with the prompt and the last words, and mostly as it was before', () => {
  const most = 12_000;
  const conversation = createConversation();
  let shortened = 0;
  const shorten = (most: number | null) => {
    if (most !== null && conversation.shorten(most)) shortened += 1;
  };
  const window = createWindow({
    conversation,
    fixed: 1_000,
    maxTokens: 500,
    windowTokens: null,
    limits: SESSION_LIMITS.window,
  });
  conversation.addUser([{ messageId: null, text: 'SOUL', shortened: () => 'SOUL' }]);
  conversation.addAnswer([{ kind: 'text', text: 'Hello.' }]);
  for (let turn = 0; turn < 2_000; turn++) {
    conversation.addUser([{ messageId: `m${turn}`, text: `turn ${turn} ${'x'.repeat((turn * 37) % 900)}` }]);
    conversation.addAnswer([
      { kind: 'text', text: 'Looking.' },
      { kind: 'tool-use', toolUseId: `c${turn}`, name: 'list_team', input: {} },
    ]);
    conversation.addResults([{ toolUseId: `c${turn}`, text: 'r'.repeat((turn * 91) % 3_000), isError: false }]);
    shorten(window.due());
    window.sending();
    while (1_000 + conversation.size() > most) {
      const less = window.refused({ kind: 'too-large', message: '' });
      expect(less).not.toBeNull();
      shorten(less);
      window.sending();
    }
    const messages = conversation.messages();
    expect(messages[0]?.blocks[0]).toEqual({ kind: 'text', text: 'SOUL' });
    expect(messages.map(({ role }) => role)).toEqual(
      messages.map((_message, i) => (i % 2 === 0 ? 'user' : 'assistant')),
    );
    const open = new Set<string>();
    for (const { blocks } of messages)
      for (const block of blocks) {
        if (block.kind === 'tool-use') open.add(block.toolUseId);
        if (block.kind === 'tool-result') expect(open.delete(block.toolUseId)).toBe(true);
      }
    expect(open.size).toBe(0);
    expect(
      messages
        .flatMap(({ blocks }) => blocks)
        .some((block) => block.kind === 'text' && block.text.startsWith(`turn ${turn} `)),
    ).toBe(true);
    conversation.addAnswer([{ kind: 'text', text: 'Done.' }]);
  }
  // Each time so much goes that many turns pass before the next.
  expect(shortened).toBeLessThan(1_000);
});

it('sends only the newest pictures, as many as a request has room for', () => {
  const conversation = createConversation();
  const looks = (id: number, characters: number) => {
    conversation.addAnswer([{ kind: 'tool-use', toolUseId: `t${id}`, name: 'view_image', input: {} }]);
    const picture = { type: 'image/png', data: 'A'.repeat(characters) } as const;
    conversation.addResults([{ toolUseId: `t${id}`, text: `picture ${id}`, isError: false, picture }]);
  };
  const shown = () =>
    conversation
      .messages()
      .flatMap(({ blocks }) => blocks)
      .flatMap((block) => (block.kind === 'tool-result' && block.picture ? [block.text] : []));
  conversation.addUser([{ messageId: null, text: 'Look.' }]);
  for (let id = 1; id <= 22; id++) looks(id, 10);
  expect(shown()).toEqual(Array.from({ length: 20 }, (_none, i) => `picture ${i + 3}`));
  looks(23, 15_000_000);
  looks(24, 12_000_000);
  expect(shown()).toEqual(['picture 23', 'picture 24']);
  expect(JSON.stringify(conversation.messages())).toContain('picture 22\\n[The picture is no longer included.');
});
