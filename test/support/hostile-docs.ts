/** What a stranger puts into a copy: markup, links that run, commands, paths and options. */
import { COLUMN_KINDS } from '../../src/shared/domain/projects.ts';
import type { Doc } from '../../src/shared/protocol/documents.ts';
import { messageDoc, stampOf } from './documents.ts';

const MARKUP = '<img src=x onerror="window.wasRun=1"><script>window.wasRun=1</script>\u202e';
const MARKDOWN = `${MARKUP} [x](javascript:window.wasRun=1) ![y](x"onerror=window.wasRun=1) <iframe srcdoc="<script>parent.wasRun=1</script>">`;
const COMMIT = 'a'.repeat(40);

/**
 * Documents as a stranger writes them: each is what its kind allows, and no more is right.
 * `marker`: the file that their commands make. `stamp`: of the nth document.
 */
export function hostileDocs(marker: string, stamp = stampOf): readonly Doc[] {
  let count = 100_000;
  const record = (type: string, recordId: string, value: object): Doc => {
    const at = stamp(count++);
    return { _id: `${type}:${recordId}:${at}`, type, schema: 1, at, recordId, value };
  };
  const run = `touch ${marker}`;
  const columns = COLUMN_KINDS.map((kind) => ({ columnId: kind, name: MARKUP, kind }));
  const project = { name: MARKUP, instructions: MARKDOWN, columns, agents: [], createdAt: 1, removed: false };
  const task = {
    ...{ projectId: 'good', number: 1, title: MARKUP, description: MARKDOWN, criteria: [], priority: 'normal' },
    ...{ labels: [MARKUP], parentTaskId: null, blockedBy: [], assignee: null, columnId: 'ready', lineComments: [] },
    ...{ createdAt: 1, createdBy: 'human', updatedAt: 1, removed: false, doneWithout: [], unprepared: null },
    history: [{ time: 1, by: 'human', what: 'created', columnId: 'ready', note: MARKDOWN }],
    request: null,
  };
  const request = {
    ...{
      title: MARKUP,
      body: MARKDOWN,
      by: 'm1',
      state: 'open',
      branch: '--output=/tmp/x',
      base: `--output=${marker}`,
    },
    ...{ head: COMMIT, openedAt: 1, updatedAt: 1, merged: null, url: 'javascript:window.wasRun=1' },
  };
  return [
    record('project', 'good', project),
    record('project', 'odd', { ...project, columns: 'none', agents: 7, checks: [run], setup: run, kind: MARKUP }),
    record('project', 'source', { ...project, kind: 'git', repository: `ext::${run}`, baseBranch: '-x' }),
    record('project', '../up', { name: '__proto__', removed: false }),
    record('task', 't1', task),
    record('task', 't2', { ...task, number: 2, request }),
    record('task', 't3', {
      projectId: 'good',
      title: MARKUP,
      removed: false,
      history: null,
      number: 'x',
      criteria: {},
    }),
    record('attempt', 'x1', {
      ...{
        projectId: 'good',
        taskId: 't1',
        number: 1,
        agentId: '../..',
        folder: '../../x',
        branch: `--output=${marker}`,
      },
      ...{ base: '-x', head: run, receipt: { commands: run, files: null }, outcome: MARKUP },
    }),
    record('attached-server', 's1', {
      ...{ name: MARKUP, removed: false, secrets: [], agents: null, tools: {} },
      where: { kind: 'program', command: '/bin/sh', args: ['-c', run], box: null },
    }),
    record('schedule', 'r1', {
      removed: false,
      schedule: { kind: 'script', name: MARKUP, agentId: 'a1', script: '../../x.sh', timing: 7 },
    }),
    record('thread', 'comments-t1', { title: MARKUP, agents: 7 }),
    record('prices', 'household', { prices: [{ model: '*', input: MARKUP, output: -1 }] }),
    messageDoc(count, { blocks: [{ kind: 'text', text: MARKDOWN }] }),
  ];
}
