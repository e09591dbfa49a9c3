/**
 * A stranger's copy that the person of the first household opens in a browser where nobody lives
 * yet, so all of it comes. The page's own code reads it, and its records go to the relay as the
 * page sends them. What such a copy does in the page itself needs a browser and no crowd, so it is
 * no part of the mix: `test/browser/hostile-export.test.ts` holds it.
 */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatStamp } from '../../../../src/shared/domain/stamp.ts';
import type { Doc } from '../../../../src/shared/protocol/documents.ts';
import { kindOf } from '../../../../src/shared/protocol/documents/kinds.ts';
import { askedRecordsSchema } from '../../../../src/shared/protocol/records.ts';
import { hostileDocs } from '../../../support/hostile-docs.ts';
import { exportsHere, exportOf, memoryLedger } from '../../../unit/page/exports/support.ts';
import type { Attack } from '../attack.ts';

const READ = [
  '/v1/projects',
  '/v1/projects/good/tasks',
  '/v1/projects/good/tasks/t2/diff',
  '/v1/projects/good/tasks/t1/attempts',
  '/api/threads',
  '/v1/agents/a1/schedule',
  '/api/mcp-servers',
  '/api/records/approvals',
] as const;

export const exportFiles: Attack = {
  name: 'exports',
  async run({ of, int, bytes, talkedInto, found }) {
    const marker = join(tmpdir(), `roost-hostile-${bytes(8).toString('hex')}`);
    const stamp = (n: number) => formatStamp({ time: Date.now() + 1_000, counter: n, node: 'copy' });
    const record = (type: string, recordId: string, value: unknown): Doc => {
      const at = stamp(int(1, 999));
      return { _id: `${type}:${recordId}:${at}`, type, schema: 1, at, recordId, value } as Doc;
    };
    const shell = { agentId: null, config: { coordination: { toolsets: { shell: 'allow' } } } };
    const free = [{ model: '*', input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }];
    const thread = (filling: object) => record('thread', `t${int(0, 9)}`, { title: 'T', agents: 7, ...filling });
    const copy = await exportOf([
      ...hostileDocs(marker, stamp),
      record('limits', 'household', shell),
      record('prices', 'household', { prices: free }),
      thread({ many: Array.from({ length: int(1, 20_000) }, () => ({})) }),
      thread({ long: 'x'.repeat(int(1, 400_000)) }),
    ]);
    const ledger = memoryLedger();
    const exports = exportsHere();
    const opened = await exports.openExport(copy, null, {
      ...{ compare: ledger.compare, here: ledger.here(), now: Date.now() },
    });
    const ticks = opened.preview.changes.map(({ tick }) => tick);
    let count = 1_000;
    await exports.importExport(opened, {
      ...{ ...ledger.lent, stamp: () => stamp(count++), withSettings: true, leaveOut: [], ticks },
    });
    const records = [...ledger.documents.values()].flatMap(({ type, at, recordId, value }) =>
      kindOf(type)?.isRecord === true && typeof recordId === 'string' ? [{ type, id: recordId, at, value }] : [],
    );
    if (records.length === 0) found('nothing of the copy was imported');
    const versions = records.map(({ type, id, at }) => ({ type, id, at }));
    await talkedInto('POST', '/api/records/compare', { json: { records: versions } });
    await talkedInto('POST', '/api/records', { json: { records } });
    for (let left = 4; left > 0; left--) await talkedInto('GET', of(READ));
    await talkedInto('POST', '/v1/projects/good/tasks/t2/request/merge', { json: {} });
    const config = await talkedInto('GET', '/v1/config');
    if (config?.text.includes('"shell":"allow"')) found('a copy has allowed commands');
    // What would act by itself waits for a yes, and the person says no.
    const asked = await talkedInto('GET', '/api/records/approvals');
    if (asked?.status === 200) {
      const { asked: all } = askedRecordsSchema.parse(JSON.parse(asked.text));
      const answers = all.map(({ type, id, part, hash }) => ({ type, id, part, hash, yes: false }));
      await talkedInto('POST', '/api/records/approvals', { json: { answers } });
    }
    if (existsSync(marker)) found('a command of a copy has run');
    await rm(marker, { force: true });
  },
};
