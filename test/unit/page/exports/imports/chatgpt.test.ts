import { strToU8, zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import {
  CHATGPT_START,
  chatGptAsked,
  chatGptConversation,
  chatGptSaid,
  chatGptShort,
} from '../../../../support/other-exports.ts';
import { readAll, shortly } from './support.ts';

const ROOT = { id: 'root', parent: null } as const;
const words = ({ conversations }: Awaited<ReturnType<typeof readAll>>) =>
  conversations.map(({ messages }) =>
    messages.map(({ author, blocks }) => `${author} ${blocks.map(shortly).join(' | ')}`),
  );

describe('a conversation of ChatGPT', () => {
  it('reads words, fractional times and the model of a conversation', async () => {
    const { conversations, notTaken } = await readAll({
      'conversations.json': [chatGptShort('c1', 'Hello?', 'Hello!')],
    });
    expect(notTaken).toEqual([]);
    expect(conversations).toEqual([
      {
        ...{ format: 'ChatGPT', sourceId: 'c1', title: 'About c1', branchOf: null },
        messages: [
          {
            ...{ sourceId: 'q', author: 'human', model: null, time: Math.floor(CHATGPT_START * 1_000) },
            blocks: [{ kind: 'text', text: 'Hello?' }],
          },
          {
            ...{ sourceId: 'a', author: 'agent', model: 'gpt-5', time: Math.floor((CHATGPT_START + 4.75) * 1_000) },
            blocks: [{ kind: 'text', text: 'Hello!' }],
          },
        ],
      },
    ]);
  });

  it('follows the chosen path without `children`, and keeps the others as branches', async () => {
    const tree = chatGptConversation(
      'c1',
      [
        ROOT,
        chatGptAsked('q1', 'root', 'One?'),
        chatGptSaid('a1', 'q1', 'First try.', 1),
        chatGptSaid('a2', 'q1', 'Second try.', 2),
        chatGptAsked('q2', 'a2', 'Two?', 3),
        chatGptSaid('b2', 'q2', 'Yes.', 4),
        chatGptAsked('q3', 'a2', 'Two, edited?', 5),
      ],
      { current_node: 'b2' },
    );
    const read = await readAll({ 'conversations.json': [tree] });
    expect(words(read)).toEqual([
      ['human One?', 'agent Second try.', 'human Two?', 'agent Yes.'],
      ['human One?', 'agent First try.'],
      ['human Two, edited?'],
    ]);
    expect(read.conversations.map(({ sourceId, branchOf }) => [sourceId, branchOf])).toEqual([
      ['c1', null],
      ['c1/a1', 'c1'],
      ['c1/q3', 'c1'],
    ]);
  });

  it('takes the path that went on last where `current_node` is missing, and cuts a circle', async () => {
    const nodes = [
      ROOT,
      chatGptAsked('q', 'root', 'Hm?'),
      chatGptSaid('a', 'q', 'Old.', 1),
      chatGptSaid('b', 'q', 'New.', 9),
      chatGptAsked('x', 'y', 'Round', 2),
      chatGptSaid('y', 'x', 'and round', 3),
    ];
    const read = await readAll({ 'c.json': [chatGptConversation('c', nodes, { current_node: 'gone' })] });
    expect(words(read)).toEqual([
      ['human Hm?', 'agent New.'],
      ['human Hm?', 'agent Old.'],
      ['agent and round', 'human Round'],
    ]);
  });

  it('takes pages, tools, thoughts and transcripts without `parts`, and lists what it leaves out', async () => {
    const tool = (id: string, parent: string, content: object) => ({
      ...{ id, parent, role: 'tool', content },
      more: { author: { role: 'tool', name: 'browser' } },
    });
    const picture = { content_type: 'image_asset_pointer', asset_pointer: 'file-service://file-1' };
    const nodes = [
      ROOT,
      { id: 's', parent: 'root', role: 'system', content: { content_type: 'text', parts: [''] } },
      {
        ...{ id: 'q', parent: 's', role: 'user' },
        content: {
          content_type: 'multimodal_text',
          parts: [picture, { content_type: 'audio_transcription', text: 'Spoken.' }, 'Typed.'],
        },
      },
      {
        ...{ id: 't', parent: 'q', role: 'assistant' },
        content: { content_type: 'thoughts', thoughts: [{ summary: 'Look', content: 'it up' }] },
      },
      {
        ...{ id: 'c', parent: 't', role: 'assistant', more: { recipient: 'browser' } },
        content: { content_type: 'code', language: 'unknown', text: 'search("lake")' },
      },
      tool('r1', 'c', { content_type: 'tether_quote', url: 'https://a.test', title: 'The lake', text: 'It is deep.' }),
      tool('r2', 'r1', { content_type: 'tether_browsing_display', result: 'No more', summary: null }),
      chatGptSaid('a', 'r2', 'Deep. \ue200cite\ue202turn0search0\ue201', 9),
      { id: 'e', parent: 'a', role: 'user', content: { content_type: 'multimodal_text', parts: [picture] } },
    ];
    const read = await readAll({ 'c.json': [chatGptConversation('c', nodes)] });
    expect(words(read)).toEqual([
      [
        'human Spoken.\n\nTyped.',
        'agent mind__think: Look\n\nit up | browser: The lake\n\nhttps://a.test\n\nIt is deep. | browser: No more | Deep. ',
      ],
    ]);
    expect(read.notTaken).toEqual([
      ['instructions and marks of the other product', 1],
      ['pictures, recordings and other files: their content is not in the text of the export', 2],
      ['empty messages, conversations or texts', 1],
    ]);
  });

  it('reads fifty files in a zip once each, and lists what else is in it', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 50 }, (_, n) => [
        `export/conversations-${String(n).padStart(3, '0')}.json`,
        strToU8(JSON.stringify([chatGptShort(`c${n}`, 'Hello?', 'Hello!')])),
      ]),
    );
    const zip = zipSync({
      ...files,
      'export/again.json': strToU8(JSON.stringify([chatGptShort('c7', 'Hello?', 'Hello!')])),
      'export/user.json': strToU8('{"id":"user-1","email":"a@example.com"}'),
      'export/chat.html': strToU8('<html></html>'),
      '__MACOSX/x.json': strToU8('[]'),
    });
    const { conversations, notTaken } = await readAll({ 'export.zip': zip });
    expect(conversations.map(({ sourceId }) => sourceId)).toEqual(Array.from({ length: 50 }, (_, n) => `c${n}`));
    expect(notTaken).toEqual([
      ['conversations that are in the files twice', 1],
      ['entries and files in an unknown format', 2],
    ]);
  });
});
