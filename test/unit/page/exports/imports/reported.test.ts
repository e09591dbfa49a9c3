/** Inputs that importers of other products were reported to fail on. */
import { describe, expect, it } from 'vitest';
import { chatGptAsked, chatGptConversation, chatGptSaid, chatGptShort } from '../../../../support/other-exports.ts';
import { readAll, shortly } from './support.ts';

const words = ({ conversations }: Awaited<ReturnType<typeof readAll>>) =>
  conversations.map(({ messages }) =>
    messages.map(({ author, blocks }) => `${author} ${blocks.map(shortly).join(' | ')}`),
  );
const ROOT = { id: 'root', parent: null } as const;
const GOOD = chatGptShort('good', 'Hello?', 'Hello!');

describe('an export that importers of other products failed on', () => {
  it('dates conversations and messages without `create_time` by their file, in order', async () => {
    const undated = JSON.parse(
      JSON.stringify(chatGptShort('c1', 'When?', 'Never.'), (key, value: unknown) =>
        key === 'create_time' || key === 'update_time' ? null : value,
      ),
    ) as object;
    const read = await readAll({ 'conversations.json': [undated] });
    expect(words(read)).toEqual([['human When?', 'agent Never.']]);
    const times = read.conversations[0]?.messages.map(({ time }) => time) ?? [];
    expect(times.every((time) => Number.isInteger(time) && time > 0)).toBe(true);
    expect([...times].sort((a, b) => a - b)).toEqual(times);
  });

  it('does not take hidden context before the first question for a message', async () => {
    const hidden = {
      ...{ id: 'profile', parent: 'root', role: 'user' },
      content: {
        content_type: 'user_editable_context',
        user_profile: 'Lives in Delft.',
        user_instructions: 'Be brief.',
      },
      more: { metadata: { is_visually_hidden_from_conversation: true } },
    };
    const unmarked = { ...hidden, id: 'profile2', parent: 'profile', more: {} };
    const read = await readAll({
      'conversations.json': [
        chatGptConversation('c1', [
          ROOT,
          hidden,
          unmarked,
          chatGptAsked('q', 'profile2', 'Hello?'),
          chatGptSaid('a', 'q', 'Hello!'),
        ]),
      ],
    });
    expect(words(read)).toEqual([['human Hello?', 'agent Hello!']]);
    expect(read.notTaken.reduce((sum, [, count]) => sum + Number(count), 0)).toBe(2);
  });

  it('lists conversations of wrong shapes, and takes the good ones between them', async () => {
    const shell = { id: 'shell', title: 'Nothing', create_time: 1 };
    const read = await readAll({
      'conversations.json': [
        shell,
        { ...shell, id: 'null', mapping: null, current_node: 'x' },
        { ...shell, id: 'list', mapping: ['a', null] },
        GOOD,
        null,
      ],
    });
    expect(words(read)).toEqual([['human Hello?', 'agent Hello!']]);
    expect(read.notTaken.reduce((sum, [, count]) => sum + Number(count), 0)).toBeGreaterThanOrEqual(4);
  });

  it('lists an export of Open WebUI as an unknown format, and takes nothing of it', async () => {
    const read = await readAll({
      'chats.json': [
        { id: 'x', title: 'T', chat: { history: { messages: {}, currentId: null }, messages: [] }, updated_at: 1 },
      ],
    });
    expect(read.conversations).toEqual([]);
    expect(read.notTaken).toEqual([['entries and files in an unknown format', 1]]);
  });

  it('reads a file with a byte-order mark, Windows line ends and a UTF-8 list', async () => {
    const text = `\ufeff${JSON.stringify([GOOD], null, 2).replaceAll('\n', '\r\n')}\r\n`;
    expect(words(await readAll({ 'conversations.json': text }))).toEqual([['human Hello?', 'agent Hello!']]);
  });

  it('takes a conversation of Claude whose every message is only an attachment', async () => {
    const message = (uuid: string, sender: string, more: object) => ({
      ...{ uuid, sender, text: '', content: [], created_at: '2026-08-26T10:00:00Z', attachments: [], files: [] },
      ...more,
    });
    const read = await readAll({
      'conversations.json': [
        {
          ...{ uuid: 'c1', name: '', created_at: '2026-08-26T10:00:00Z', account: { uuid: 'me' } },
          chat_messages: [
            message('q', 'human', { attachments: [{ file_name: 'a.txt', extracted_content: 'Alone.' }] }),
            message('a', 'assistant', {}),
          ],
        },
        { uuid: 'c2', name: 'Empty', created_at: '2026-08-26T10:00:00Z', account: { uuid: 'me' }, chat_messages: [] },
      ],
    });
    expect(words(read)).toEqual([['human a.txt\n\nAlone.']]);
    expect(read.notTaken).toEqual([['empty messages, conversations or texts', 2]]);
  });
});
