/** What must hold of every log and of every request to a mind, whatever happened. */
import type { Block } from '../../src/shared/protocol/documents.ts';
import type { EventOf, StoredEvent } from '../../src/shared/protocol/events.ts';
import type { ScriptedRequest } from './scripted-model.ts';

interface OpenAnswer {
  readonly agentId: string;
  readonly runId: string | undefined;
  blocks: Block[];
}

/** The blocks that `text` and `tool` events of one answer add up to. */
function addTo(blocks: readonly Block[], event: EventOf<'text'> | EventOf<'tool'>): Block[] {
  const last = blocks.at(-1);
  if (event.kind === 'text') {
    if (last?.kind === 'text') return [...blocks.slice(0, -1), { kind: 'text', text: last.text + event.text }];
    return [...blocks, { kind: 'text', text: event.text }];
  }
  const { block } = event;
  const same = (held: Block) => held.kind === 'tool' && block.kind === 'tool' && held.toolUseId === block.toolUseId;
  return blocks.some(same) ? blocks.map((held) => (same(held) ? block : held)) : [...blocks, block];
}

/** What is wrong with this log, one sentence each. */
export function brokenRules(stored: readonly StoredEvent[]): string[] {
  const broken: string[] = [];
  const seen = new Set<string>();
  const answers = new Map<string, OpenAnswer>();
  const calls = new Set<string>();
  /** By run: whose, and in which session. */
  const runs = new Map<string, { readonly agentId: string; readonly sessionId: string | null }>();
  const ended = new Set<string>();
  let session: string | null = null;
  let lastId = 0;
  for (const { id, event } of stored) {
    const wrong = (what: string) => broken.push(`${id} ${event.kind}: ${what}`);
    if (id !== lastId + 1) wrong('the id does not follow');
    lastId = id;
    // What the relay keeps can change at any time.
    if (event.kind === 'changed' || event.kind === 'record') continue;
    if (event.kind === 'session-started') {
      if (session !== null) wrong('another session runs');
      session = event.sessionId;
      continue;
    }
    const alone =
      ('sessionId' in event && event.sessionId === null) ||
      ((event.kind === 'text' || event.kind === 'tool') &&
        runs.get(answers.get(event.messageId)?.runId ?? '')?.sessionId === null);
    if (session === null && !alone) wrong('written while no session runs');
    if ('sessionId' in event && event.sessionId !== session && !alone) wrong('of another session');
    switch (event.kind) {
      case 'session-ended':
        for (const [messageId, { runId = '' }] of answers)
          if (runs.get(runId)?.sessionId !== null) wrong(`the answer ${messageId} is open`);
        for (const [runId, run] of runs) if (run.sessionId === event.sessionId) wrong(`the run ${runId} lasts`);
        session = null;
        calls.clear();
        break;
      case 'run-started':
        if (runs.has(event.runId) || ended.has(event.runId)) wrong('a run that began before');
        runs.set(event.runId, event);
        break;
      case 'run-ended':
        if (!runs.delete(event.runId)) wrong('a run that does not last');
        ended.add(event.runId);
        for (const [messageId, { runId }] of answers)
          if (runId === event.runId) wrong(`the answer ${messageId} is open`);
        break;
      case 'answer-started':
        if (runs.get(event.runId ?? '')?.agentId !== event.agentId) wrong('in no run of this agent');
        if ([...answers.values()].some((answer) => answer.agentId === event.agentId))
          wrong('two answers of one agent at once');
        answers.set(event.messageId, { agentId: event.agentId, runId: event.runId, blocks: [] });
        break;
      case 'text':
      case 'tool': {
        const answer = answers.get(event.messageId);
        if (answer) answer.blocks = addTo(answer.blocks, event);
        else wrong('of no open answer');
        break;
      }
      case 'message': {
        if (seen.has(event.messageId)) wrong(`${event.messageId} stands twice`);
        seen.add(event.messageId);
        if (event.role === 'user') break;
        const answer = answers.get(event.messageId);
        // What an agent leaves for the person is whole from the start, and no model was asked for
        // it.
        if (!answer && event.usage === null && event.status === 'complete') break;
        if (!answer) wrong('an answer that did not begin');
        else if (JSON.stringify(answer.blocks) !== JSON.stringify(event.blocks))
          wrong(`holds ${JSON.stringify(event.blocks)}, was written as ${JSON.stringify(answer.blocks)}`);
        answers.delete(event.messageId);
        break;
      }
      case 'message-read':
        if (seen.has(`read ${event.messageId}`)) wrong(`${event.messageId} was read twice`);
        seen.add(`read ${event.messageId}`);
        if (!seen.has(event.messageId)) wrong('read before it was written');
        break;
      case 'call-started':
        calls.add(event.callId);
        break;
      case 'call-ended':
        if (!calls.delete(event.callId)) wrong('a call that does not run');
        break;
      default:
    }
  }
  return broken;
}

const blocksOf = (content: ScriptedRequest['body']['messages'][number]['content']) =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;

/** What the Messages API would refuse in these requests. */
export function brokenRequests(requests: readonly ScriptedRequest[]): string[] {
  return requests.flatMap(({ body, order }) => {
    const broken: string[] = [];
    const { messages } = body;
    // An answer in which the provider searched for long goes on from where it paused.
    const paused = messages.at(-1)?.content;
    const goesOn = Array.isArray(paused) && /^(?:server_tool_use|web_\w+_tool_result)$/.test(paused.at(-1)?.type ?? '');
    if (messages.at(-1)?.role !== 'user' && !goesOn) broken.push('the last turn is not the user’s');
    for (const [i, message] of messages.entries()) {
      if (message.role !== (i % 2 === 0 ? 'user' : 'assistant')) broken.push(`turn ${i} is ${message.role}`);
      const blocks = blocksOf(message.content);
      if (blocks.length === 0) broken.push(`turn ${i} is empty`);
      if (
        blocks.some(
          (block) => block.type === 'text' && (typeof block['text'] !== 'string' || block['text'].trim() === ''),
        )
      )
        broken.push(`turn ${i} has an empty text`);
      const ids = (turn: number, type: string, key: string) =>
        blocksOf(messages[turn]?.content ?? []).flatMap((block) => (block.type === type ? [String(block[key])] : []));
      const made = ids(i, 'tool_use', 'id');
      if (new Set(made).size !== made.length) broken.push(`turn ${i} uses an id twice`);
      if (
        made.length > 0 &&
        made.toSorted().join() !==
          ids(i + 1, 'tool_result', 'tool_use_id')
            .toSorted()
            .join()
      )
        broken.push(`turn ${i} has calls without results`);
      const results = ids(i, 'tool_result', 'tool_use_id');
      if (
        results.length > 0 &&
        results.toSorted().join() !==
          ids(i - 1, 'tool_use', 'id')
            .toSorted()
            .join()
      )
        broken.push(`turn ${i} has results without calls`);
      const lastResult = blocks.findLastIndex((block) => block.type === 'tool_result');
      if (blocks.slice(0, lastResult + 1).some((block) => block.type !== 'tool_result'))
        broken.push(`turn ${i} has words before its results`);
    }
    return broken.map((what) => `request ${order}: ${what}`);
  });
}
