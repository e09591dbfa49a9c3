/**
 * A copy of a stranger’s, with records that mean harm: it is opened in a real browser, given to the
 * relay, and looked at. Nothing of it runs, and no page breaks.
 */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Doc } from '../../src/shared/protocol/documents.ts';
import { COLUMN_KINDS } from '../../src/shared/domain/projects.ts';
import { createGuest, QUIET } from '../support/chromium.ts';
import { messageDoc, stampOf } from '../support/documents.ts';
import { startRelay } from '../support/relay.ts';
import { createVisitor, goWithin } from '../support/visitor.ts';
import { writeSeed } from '../workshop/seed/household.ts';

const PATIENCE = 300_000;
const MARKUP = '<img src=x onerror="window.wasRun=1"><script>window.wasRun=1</script>\u202e';
const MARKDOWN = `${MARKUP} [x](javascript:window.wasRun=1) ![y](x"onerror=window.wasRun=1) <iframe srcdoc="<script>parent.wasRun=1</script>">`;
const COMMIT = 'a'.repeat(40);

/** Documents as a stranger writes them: each is what its kind allows, and no more is right. */
function hostileDocs(marker: string): readonly Doc[] {
  let count = 100_000;
  const record = (type: string, recordId: string, value: object): Doc => {
    const at = stampOf(count++);
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

it(
  'A stranger’s copy with hostile records runs nothing in the page or at the relay, and breaks no page',
  {
    timeout: PATIENCE,
  },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'roost-hostile-copy-'));
    const marker = join(folder, 'was-here');
    const path = join(folder, 'copy.roost');
    await writeSeed({ size: 'small', path, exportedAt: Date.now(), more: hostileDocs(marker) });
    const relay = await startRelay({ args: ['--rehearsal', JSON.stringify({ delayMs: 0, wordMs: 0 })] });
    const profile = createGuest();
    try {
      const context = await profile.open({ viewport: { width: 1440, height: 900 }, ...QUIET });
      const visitor = await createVisitor(context, relay.link);
      const { page } = visitor;
      const dialogs: string[] = [];
      page.on('dialog', (dialog) => {
        dialogs.push(dialog.message());
        void dialog.dismiss();
      });
      await visitor.press('Bring it back from a copy');
      await page.locator('input[type=file]:not(.compose *)').setInputFiles(path);
      await page.getByRole('group', { name: 'Who comes' }).waitFor();
      // All that the copy would bring is allowed.
      for (const box of await page.getByRole('checkbox', { checked: false }).all()) await box.check();
      await visitor.picture('hostile-copy-import');
      await visitor.press('Import');
      await visitor.untilAll('sleeping');

      const card = page.getByRole('region', { name: 'What the relay does not know' });
      await card.getByText('What would change').click();
      await visitor.picture('hostile-copy-offer');
      // No letter turns the command beside a name around.
      expect(await card.getByText(/The MCP server/).textContent()).toContain('⟨U+202E⟩');
      await card
        .getByText(/^The project “/)
        .first()
        .waitFor();
      await card.getByRole('button', { name: 'Give them back' }).click();
      await card.getByRole('status').waitFor();
      await visitor.picture('hostile-copy-given');
      for (const place of [
        '/projects',
        '/projects/good',
        '/projects/good/task/t2',
        '/schedule',
        '/morning',
        '/threads',
        '/inbox',
        '/settings/costs',
        '/',
      ]) {
        await goWithin(page, place);
        await page.waitForTimeout(500);
        await visitor.picture(`hostile-copy${place.replaceAll('/', '-')}`);
        expect(await page.locator('.broken-part').count(), place).toBe(0);
      }
      expect(await page.evaluate(() => Reflect.get(window, 'wasRun') as unknown)).toBeUndefined();
      expect(existsSync(marker)).toBe(false);
      expect(dialogs).toEqual([]);
      expect(visitor.complaints).toEqual([]);
    } finally {
      await profile.remove();
      await relay.stop();
      await rm(folder, { recursive: true, force: true });
    }
  },
);
