import { describe, expect, test } from 'vitest';
import { WAKE_WAYS } from '../../../../../src/shared/domain/guardrails.ts';
import type { WakeDecision } from '../../../../../src/shared/protocol/wakes.ts';
import { askedText, leftText, outcomeText } from '../../../../../src/page/ui/wakes/words.ts';

const NOW = new Date('2026-11-21T08:55:00').getTime();
const MINUTE = 60_000;
const wake = (more: Partial<WakeDecision>): WakeDecision => ({
  decisionId: 'w',
  callId: null,
  time: NOW,
  target: 'sage',
  source: { kind: 'agent', agentId: 'lyra' },
  way: 'wake_agent',
  reason: null,
  messageId: null,
  outcome: 'granted',
  check: null,
  until: null,
  detail: '',
  ...more,
});
const nameOf = (id: string) => id[0]?.toUpperCase() + id.slice(1);

describe('a wake in words', () => {
  test('counts the rest in seconds, then minutes, then shows the time', () => {
    expect(leftText(NOW + 40_000, NOW)).toBe('40 s left');
    expect(leftText(NOW + 3 * MINUTE - 1, NOW)).toBe('3 min left');
    expect(leftText(NOW + 5 * 60 * MINUTE, NOW)).toBe('until 13:55');
    expect(leftText(NOW + 20 * 60 * MINUTE, NOW)).toBe('until Sunday 04:55');
    expect(leftText(NOW - 1, NOW)).toBe('0 s left');
  });

  test('every way names who asked and for whom', () => {
    for (const way of WAKE_WAYS) expect(askedText(wake({ way }), nameOf)).toMatch(/Lyra.*Sage/);
    expect(askedText(wake({ way: 'schedule', source: { kind: 'schedule', name: 'Morning' } }), nameOf)).toBe(
      '“Morning” asked for Sage',
    );
  });

  test('shows the end of a wake when it is known', () => {
    expect(outcomeText(wake({}))).toBe('woken');
    expect(outcomeText(wake({ outcome: 'suppressed', check: 'cooldown', until: NOW + 3 * MINUTE }))).toBe(
      'too soon: 3 min left',
    );
    expect(outcomeText(wake({ outcome: 'suppressed', check: 'disabled' }))).toBe('wakes are off');
    expect(outcomeText(wake({ outcome: 'deferred', check: 'idle' }))).toBe('busy or not in the session');
    expect(outcomeText(wake({ outcome: 'error' }))).toBe('refused');
  });
});
