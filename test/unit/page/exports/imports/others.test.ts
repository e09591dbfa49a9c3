import { describe, expect, it } from 'vitest';
import { readAll, shortly } from './support.ts';

const words = ({ conversations }: Awaited<ReturnType<typeof readAll>>) =>
  conversations.map(({ title, messages }) => [
    title,
    ...messages.map(({ author, blocks }) => `${author} ${blocks.map(shortly).join(' | ')}`),
  ]);

describe('an export of Claude (August 2026)', () => {
  const said = (
    uuid: string,
    parent: string | undefined,
    sender: string,
    content: readonly object[],
    more: object = {},
  ) => ({
    ...{ uuid, sender, content, text: '', created_at: '2026-08-26T10:00:00.123456Z', attachments: [], files: [] },
    ...(parent === undefined ? {} : { parent_message_uuid: parent }),
    ...more,
  });
  const text = (words: string) => ({ type: 'text', text: words });
  const ROOT = '00000000-0000-4000-8000-000000000000';
  const conversation = (messages: readonly object[]) => ({
    ...{ uuid: 'c1', name: 'The lake', created_at: '2026-08-26T09:59:00Z', account: { uuid: 'me' } },
    chat_messages: messages,
  });

  it('reads pasted texts, thoughts and tools without a model, and lists artifact placeholders', async () => {
    const messages = [
      said('q', undefined, 'human', [text('Read this.')], {
        attachments: [
          { file_name: 'lake.txt', file_type: 'txt', extracted_content: 'It is deep.' },
          { file_name: 'lake.pdf', file_type: 'pdf', extracted_content: '' },
        ],
        files: [{ file_name: 'lake.png' }],
      }),
      said('a', undefined, 'assistant', [
        { type: 'thinking', thinking: 'Depth first.' },
        { type: 'tool_use', id: 't1', name: 'web_search', input: { query: 'lake' } },
        {
          type: 'tool_result',
          tool_use_id: 't1',
          name: 'web_search',
          content: [{ type: 'text', text: '40 m' }],
          is_error: false,
        },
        text('Here:\n```\nThis block is not supported on your current device yet.\n```\nDone.'),
        { type: 'token_budget' },
      ]),
      said('old', undefined, 'human', [], { text: 'Only the old field.' }),
      said('none', undefined, 'human', []),
    ];
    const read = await readAll({ 'conversations.json': [conversation(messages)] });
    expect(words(read)).toEqual([
      [
        'The lake',
        'human Read this. | lake.txt\n\nIt is deep.',
        'agent mind__think: Depth first. | web_search: 40 m | Here:\n\nDone.',
        'human Only the old field.',
      ],
    ]);
    expect(read.conversations[0]?.messages[1]).toMatchObject({
      model: null,
      time: Date.UTC(2026, 7, 26, 10, 0, 0, 123),
    });
    expect(read.notTaken).toEqual([
      ['pictures, recordings and other files: their content is not in the text of the export', 2],
      ['artifacts: the export has a placeholder in their place', 1],
      ['empty messages, conversations or texts', 1],
    ]);
  });

  it('follows `parent_message_uuid`, so that an edited question is a branch', async () => {
    const messages = [
      said('q1', ROOT, 'human', [text('Deep?')]),
      said('a1', 'q1', 'assistant', [text('Yes.')]),
      said('q2', ROOT, 'human', [text('How deep?')], { created_at: '2026-08-26T10:05:00Z' }),
      said('a2', 'q2', 'assistant', [text('40 m.')], { created_at: '2026-08-26T10:06:00Z' }),
    ];
    expect(words(await readAll({ 'c.json': [conversation(messages)] }))).toEqual([
      ['The lake', 'human How deep?', 'agent 40 m.'],
      ['The lake', 'human Deep?', 'agent Yes.'],
    ]);
  });

  it('reads documents of projects and what Claude remembered as files of memory', async () => {
    const project = {
      ...{ uuid: 'p1', name: '../The house', prompt_template: 'Be brief.' },
      docs: [{ uuid: 'd', filename: 'plan.md', content: '# Plan' }],
    };
    const { files } = await readAll({
      'projects.json': [project],
      'memories.json': [{ conversations_memory: 'Likes lakes.', project_memories: { p1: 'A house.' } }],
    });
    expect(files.map(({ path, text: kept }) => [path, kept])).toEqual([
      ['claude/-The house/instructions.md', 'Be brief.'],
      ['claude/-The house/plan.md', '# Plan'],
      ['claude/memory.md', 'Likes lakes.'],
      ['claude/project-p1.md', 'A house.'],
    ]);
  });
});

describe('a session of Claude Code (versions 1 and 2)', () => {
  let second = 0;
  const line = (uuid: string, parentUuid: string | null, type: string, content: unknown, more: object = {}) => ({
    ...{ uuid, parentUuid, type, sessionId: 's1', version: '2.1.0', cwd: '/home/me' },
    timestamp: new Date(Date.UTC(2026, 4, 1) + 1_000 * ++second).toISOString(),
    message: { role: type, content, ...(type === 'assistant' ? { model: 'claude-opus-4-7' } : {}) },
    ...more,
  });
  const call = (id: string) => ({ type: 'tool_use', id, name: 'Bash', input: { command: id } });
  const result = (id: string, text: string) => ({ type: 'tool_result', tool_use_id: id, content: text });
  const jsonl = (lines: readonly object[]) => lines.map((each) => JSON.stringify(each)).join('\n');

  it('reads the title, tools with parallel results, and the sidechain on its own', async () => {
    const read = await readAll({
      'projects/-home-me/s1.jsonl': jsonl([
        { type: 'summary', summary: 'Fix the gate', leafUuid: 'a3' },
        { type: 'file-history-snapshot', messageId: 'q1', snapshot: {} },
        line('q1', null, 'user', 'Fix it.'),
        line('a1', 'q1', 'assistant', [call('t1')]),
        line('a2', 'a1', 'assistant', [call('t2')]),
        line('r1', 'a1', 'user', [result('t1', 'one')]),
        line('r2', 'a2', 'user', [result('t2', 'two')]),
        line('x1', null, 'user', 'Look for gates.', { isSidechain: true }),
        line('x2', 'x1', 'assistant', [{ type: 'text', text: 'Two gates.' }], { isSidechain: true }),
        line('m', 'r2', 'user', '<local-command-caveat>', { isMeta: true }),
        line('a3', 'm', 'assistant', [{ type: 'text', text: 'Fixed.' }]),
      ]),
    });
    expect(words(read)).toEqual([
      ['Fix the gate', 'human Fix it.', 'agent Bash: one | Bash: two | Fixed.'],
      ['Side task: Look for gates.', 'human Look for gates.', 'agent Two gates.'],
    ]);
    expect(read.notTaken).toEqual([['instructions and marks of the other product', 1]]);
    expect(read.conversations[0]?.messages[1]?.model).toBe('claude-opus-4-7');
  });

  it('goes on where a parent is in no file, and after a broken line', async () => {
    const read = await readAll({
      's1.jsonl': [
        JSON.stringify(line('q1', null, 'user', 'One.')),
        JSON.stringify(line('a1', 'q1', 'assistant', [{ type: 'text', text: 'Two.' }])),
        '{"type":"user","uuid":"cut","message":{"content":"lo',
        JSON.stringify(line('q2', 'never written', 'user', 'Three.')),
        JSON.stringify(line('b', null, 'system', '', { subtype: 'compact_boundary', logicalParentUuid: 'gone' })),
        JSON.stringify(line('a2', 'b', 'assistant', [{ type: 'text', text: 'Four.' }])),
      ].join('\n'),
    });
    expect(words(read)).toEqual([['One.', 'human One.', 'agent Two.', 'human Three.', 'agent Four.']]);
    expect(read.notTaken).toEqual([['not valid JSON', 1]]);
  });
});

describe('a session of OpenClaw (versions 1 to 3)', () => {
  const at = (second: number) => new Date(Date.UTC(2026, 3, 8) + 1_000 * second).toISOString();
  const head = { type: 'session', version: 3, id: 'session-1', timestamp: at(0), cwd: '/home/me' };
  const entry = (id: string, parentId: string | null, second: number, message: object) => ({
    ...{ type: 'message', id, parentId, timestamp: at(second), message },
  });
  const jsonl = (lines: readonly object[]) => lines.map((each) => JSON.stringify(each)).join('\n');
  const path = 'agents/main/sessions/session-1.jsonl';
  const answer = (content: readonly object[]) => ({ role: 'assistant', content, model: 'claude-opus-4-7' });

  it('reads the name, tools and branch, and lists pictures, summaries and marks as not imported', async () => {
    const read = await readAll({
      [path]: jsonl([
        head,
        { type: 'model_change', id: 'm', parentId: null, timestamp: at(1), modelId: 'claude-opus-4-7' },
        entry('q', 'm', 2, {
          role: 'user',
          content: [
            { type: 'text', text: 'How deep?' },
            { type: 'image', data: '' },
          ],
        }),
        entry('a', 'q', 3, answer([{ type: 'toolCall', id: 'c', name: 'exec', arguments: { command: 'sound' } }])),
        entry('r', 'a', 4, {
          role: 'toolResult',
          toolCallId: 'c',
          toolName: 'exec',
          content: [{ type: 'text', text: '40 m' }],
        }),
        entry('old', 'r', 5, answer([{ type: 'text', text: 'Forty.' }])),
        { type: 'compaction', id: 'k', parentId: 'r', timestamp: at(6), summary: 'Depth.', firstKeptEntryId: 'q' },
        entry('s', 'k', 7, { role: 'compactionSummary', summary: 'Depth.' }),
        { type: 'session_info', id: 'i', parentId: 's', timestamp: at(8), name: 'The lake' },
        entry('b', 'i', 9, answer([{ type: 'text', text: '40 m.' }])),
      ]),
    });
    expect(words(read)).toEqual([
      ['The lake', 'human How deep?', 'agent exec: 40 m | 40 m.'],
      ['The lake', 'agent Forty.'],
    ]);
    expect(read.conversations[0]).toMatchObject({ format: 'OpenClaw', sourceId: 'session-1' });
    expect(read.conversations[0]?.messages[1]).toMatchObject({ model: 'claude-opus-4-7', time: Date.parse(at(3)) });
    expect(read.notTaken).toEqual([
      ['pictures, recordings and other files: their content is not in the text of the export', 1],
      ['instructions and marks of the other product', 1],
    ]);
  });

  it('reads lines without ids in their order, and comes beside the files of the same agent', async () => {
    const read = await readAll({
      [path]: jsonl([
        { ...head, version: 1 },
        { type: 'message', message: { role: 'user', content: 'One.' } },
        { type: 'message', message: answer([{ type: 'text', text: 'Two.' }]) },
      ]),
      'workspace/SOUL.md': 'I am Shell.',
      'workspace/memory/2026-04-08.md': 'A lake.',
    });
    expect(words(read)).toEqual([['One.', 'human One.', 'agent Two.']]);
    expect(read.souls.map(({ text: soul }) => soul)).toEqual(['I am Shell.']);
    expect(read.files.map(({ path: kept }) => kept)).toEqual(['openclaw/memory/2026-04-08.md']);
  });

  it('cuts a circle of parents', async () => {
    const read = await readAll({
      [path]: jsonl([
        head,
        entry('a', 'b', 1, { role: 'user', content: 'One.' }),
        entry('b', 'a', 2, answer([{ type: 'text', text: 'Two.' }])),
      ]),
    });
    expect(words(read)[0]).toEqual(['One.', 'human One.', 'agent Two.']);
  });
});

describe('an agent file of Letta', () => {
  const wrapped = (message: string) => JSON.stringify({ type: 'user_message', message, time: 'now' });
  const messages = [
    {
      id: 'message-0',
      role: 'system',
      content: [{ type: 'text', text: 'You are Letta.' }],
      created_at: '2026-03-01T10:00:00Z',
    },
    {
      id: 'message-1',
      role: 'user',
      content: [{ type: 'text', text: wrapped('Hello?') }],
      created_at: '2026-03-01T10:00:01Z',
    },
    {
      ...{ id: 'message-2', role: 'assistant', model: 'gpt-4.1', created_at: '2026-03-01T10:00:02Z' },
      content: [{ type: 'text', text: 'Greet them.' }],
      tool_calls: [
        { id: 'c0', type: 'function', function: { name: 'archival_memory_search', arguments: '{"query":"hello"}' } },
        { id: 'c1', type: 'function', function: { name: 'send_message', arguments: '{"message":"Hello!"}' } },
      ],
    },
    {
      id: 'message-3',
      role: 'tool',
      name: 'archival_memory_search',
      tool_call_id: 'c0',
      content: [{ type: 'text', text: '[]' }],
    },
    {
      id: 'message-4',
      role: 'tool',
      name: 'send_message',
      tool_call_id: 'c1',
      content: [{ type: 'text', text: 'ok' }],
    },
    { id: 'message-5', role: 'user', content: [{ type: 'text', text: JSON.stringify({ type: 'heartbeat' }) }] },
  ];
  const persona = { id: 'block-0', label: 'persona', value: 'I am Loop.' };
  const human = { id: 'block-1', label: 'human', value: 'Ada.' };

  it.each([
    [
      'in lists (2025 and 2026)',
      {
        agents: [{ id: 'agent-0', name: 'Loop', block_ids: ['block-0', 'block-1'], messages }],
        blocks: [persona, human],
        groups: [],
      },
    ],
    [
      'of one agent (the first form)',
      { agent_type: 'memgpt_agent', name: 'Loop', core_memory: [persona, human], messages },
    ],
  ])('%s has blocks as memory, the persona as a soul to agree to, and what was said', async (_form, file) => {
    const read = await readAll({ 'loop.af': JSON.stringify(file, null, 2) });
    expect(words(read)).toEqual([
      ['Loop', 'human Hello?', 'agent mind__think: Greet them. | archival_memory_search: [] | Hello!'],
    ]);
    expect(read.files.map(({ path, text }) => [path, text])).toEqual([['letta/Loop/human.md', 'Ada.']]);
    expect(read.souls).toEqual([{ format: 'Letta', path: 'loop.af', text: 'I am Loop.', name: 'Loop' }]);
    expect(read.notTaken).toEqual([['instructions and marks of the other product', 3]]);
  });
});

describe('a folder of texts', () => {
  it('reads a soul, a name and notes as memory from OpenClaw', async () => {
    const read = await readAll({
      'workspace/SOUL.md': '# Who I am\r\n\r\nI am kind.',
      'workspace/IDENTITY.md': '- **Name:** Wren\n- **Emoji:** 🪶',
      'workspace/USER.md': 'Ada.',
      'workspace/MEMORY.md': '\ufeffThe lake.',
      'workspace/memory/2026-03-01.md': 'Rain.',
      'workspace/memory/2026-03-02.md': new Uint8Array([0x47, 0x72, 0xfc, 0xdf, 0x65]),
      'workspace/memory/2026-03-03.md': new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 1, 0xff]),
      'workspace/AGENTS.md': 'Use your tools.',
      'workspace/skills/x/SKILL.md': 'A skill.',
      'workspace/.git/config': '[core]',
    });
    expect(read.souls).toEqual([
      { format: 'OpenClaw', path: 'workspace/SOUL.md', text: '# Who I am\n\nI am kind.', name: 'Wren' },
    ]);
    expect(read.files.map(({ path, text }) => [path, text])).toEqual([
      ['openclaw/IDENTITY.md', '- **Name:** Wren\n- **Emoji:** 🪶'],
      ['openclaw/USER.md', 'Ada.'],
      ['openclaw/MEMORY.md', 'The lake.'],
      ['openclaw/memory/2026-03-01.md', 'Rain.'],
      ['openclaw/memory/2026-03-02.md', 'Grüße'],
    ]);
    expect(read.notTaken).toEqual([
      ['entries and files in an unknown format', 1],
      ['instructions for tools of the other product', 2],
    ]);
  });

  it('reads the persona of a Letta repository without its front matter', async () => {
    const { souls, files } = await readAll({
      'memory/system/persona.md': '---\ndescription: who I am\nlimit: 5000\n---\nI am Loop.',
      'memory/system/human.md': 'Ada.',
      'memory/reference/lake.md': 'Deep.',
    });
    expect(souls.map(({ format, text }) => [format, text])).toEqual([['Letta', 'I am Loop.']]);
    expect(files.map(({ path }) => path)).toEqual(['letta/system/human.md', 'letta/reference/lake.md']);
  });

  it('turns a folder of notes into memory, within its limits and inside its folder', async () => {
    const { souls, files, notTaken } = await readAll({
      'notes/lake.md': 'Deep.',
      'notes/../../etc/passwd.md': 'root',
      'notes/big.txt': 'x'.repeat(100_001),
      'notes/empty.md': ' \n',
      'notes/a/photo.png': new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 1]),
    });
    expect(souls).toEqual([]);
    expect(files.map(({ path }) => path)).toEqual(['text-files/lake.md']);
    expect(notTaken.map(([reason]) => reason)).toEqual([
      expect.stringMatching(/^texts over 100 KB/),
      'entries and files in an unknown format',
      'texts whose path no memory can have',
      'empty messages, conversations or texts',
    ]);
  });
});
