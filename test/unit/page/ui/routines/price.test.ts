import { describe, expect, it } from 'vitest';
import { runsADay } from '../../../../../src/page/ui/routines/price.tsx';

const NOW = Date.UTC(2026, 10, 30, 12, 7);

describe('runs on the busiest day', () => {
  it('counts those within an hour of another, which read from the cache', () => {
    expect(runsADay({ kind: 'every', minutes: 15, offset: null }, NOW, 'UTC')).toEqual({ runs: 96, warm: 96 });
    expect(runsADay({ kind: 'every', minutes: 60, offset: null }, NOW, 'UTC')).toEqual({ runs: 24, warm: 0 });
  });
  it('counts the first of a morning as one that fills the cache', () => {
    const timing = { kind: 'cron', cron: '*/20 7-8 * * *', zone: null } as const;
    expect(runsADay(timing, NOW, 'UTC')).toEqual({ runs: 6, warm: 5 });
  });
});
