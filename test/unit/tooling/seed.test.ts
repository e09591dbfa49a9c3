import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { writeSeed } from '../../workshop/seed/household.ts';
import { exportsHere, memoryLedger } from '../page/exports/support.ts';

it('a seeded household is a copy that Roost imports whole', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'roost-seed-'));
  try {
    const path = join(folder, 'copy.jsonl.gz');
    const { documents } = await writeSeed({ size: 'small', path, exportedAt: Date.UTC(2026, 0, 1) });
    const ledger = memoryLedger();
    const opened = await exportsHere().openExport(new Blob([await readFile(path)]), null, {
      ...ledger,
      here: ledger.here(),
      now: Date.UTC(2026, 0, 2),
    });
    expect(opened.preview.agents.length).toBeGreaterThanOrEqual(9);
    expect(opened.preview).toMatchObject({ fresh: documents, forgotten: 0 });
  } finally {
    await rm(folder, { recursive: true });
  }
});
