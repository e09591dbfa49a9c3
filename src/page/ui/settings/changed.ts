/**
 * Which settings differ from what they are without anybody's doing, by the section in which they
 * stand.
 */
import { isRecord } from '../../../shared/domain/platform/is-record.ts';
import { useEffect, useState } from 'react';
import {
  DEFAULT_LIMITS,
  DEFAULT_SLEEP_WAIT_SECONDS,
  HAND_BOUNDS,
  PULSE_BOUNDS,
} from '../../../shared/domain/guardrails.ts';
import { DEFAULT_SETTINGS, type SettingKey, type Settings } from '../../../shared/domain/settings.ts';
import { DEFAULT_COORDINATION, type HouseholdConfig } from '../../../shared/protocol/config.ts';
import { rehearsalSchema, type Rehearsal } from '../../../shared/protocol/http.ts';
import type { SyncStatus } from '../../../shared/protocol/sync/page.ts';
import { costQueriesOf } from '../../state/costs.ts';
import { toldOf, USUAL_CHOICE } from '../../state/notifications.ts';
import { useDevices, useHousehold, useRoost } from '../context.tsx';
import { areOwn } from '../costs/price-rows.ts';
import { useRehearsing } from '../models/chip.tsx';
import type { SettingsSection } from '../routes.ts';
import { useQuery } from '../use-query.ts';

/**
 * Settings of the household by the section in which they stand. Names are everybody's own, and no
 * change.
 */
const IN_SECTION: Partial<Record<SettingsSection, readonly SettingKey[]>> = {
  waking: ['transcriptCap', 'wakeTimeoutMs', 'birthTimeoutMs', 'idleMs'],
  minds: ['leadModel', 'agentModel', 'maxAnswerTokens', 'contextTokens'],
  prompt: ['wakeTemplate'],
};

export const isChanged = (settings: Settings, key: SettingKey): boolean => settings[key] !== DEFAULT_SETTINGS[key];

/**
 * How many values of `own`, however deep, are others than those in their places of `usual`. What is
 * not set is none; a list is one value.
 */
function differing(own: unknown, usual: unknown): number {
  if (own === undefined) return 0;
  if (!isRecord(own) || !isRecord(usual)) return JSON.stringify(own) === JSON.stringify(usual) ? 0 : 1;
  return Object.entries(own).reduce((sum, [key, value]) => sum + differing(value, usual[key]), 0);
}

/**
 * What holds where nothing is set. Budgets have a section of their own, and the switch stops all
 * wakes for a while: neither is among them.
 */
const USUAL_LIMITS = {
  coordination: DEFAULT_COORDINATION,
  flood_guard: { max_wakes: DEFAULT_LIMITS.floodMaxWakes, window_seconds: DEFAULT_LIMITS.floodWindowSeconds },
  sleep_wait_seconds: DEFAULT_SLEEP_WAIT_SECONDS,
  programs_at_once: HAND_BOUNDS.programs_at_once.otherwise,
  pulse_container_timeout_ms: PULSE_BOUNDS.pulse_container_timeout_ms.otherwise,
  pulse_busy_wait_ms: PULSE_BOUNDS.pulse_busy_wait_ms.otherwise,
  pulse_max_consecutive_skips: PULSE_BOUNDS.pulse_max_consecutive_skips.otherwise,
  pulse_max_turns: PULSE_BOUNDS.pulse_max_turns.otherwise,
};
const changedLimits = (own: HouseholdConfig): number =>
  differing(
    {
      ...own,
      wakes_enabled: undefined,
      daily_budget_usd: undefined,
      coordination: { ...own.coordination, daily_budget_usd: undefined },
    },
    USUAL_LIMITS,
  );
const changedBudgets = ({ daily_budget_usd: all, coordination: { daily_budget_usd: each } }: HouseholdConfig) =>
  [all, each].filter((budget) => budget !== null && budget !== undefined).length;

function keepsNothingAtRelay(status: SyncStatus | null): boolean {
  if (status?.kind === 'shared') return status.link === 'off';
  return status?.kind === 'alone' && status.kept?.link === 'off';
}

/**
 * How the demo misbehaves; null while that is not known, and where there is none. Read again with
 * each section: nothing tells of it.
 */
function useRehearsal(section: SettingsSection | null): Rehearsal | null {
  const { relay } = useRoost();
  const rehearsing = useRehearsing();
  const [held, setHeld] = useState<Rehearsal | null>(null);
  useEffect(() => {
    if (!rehearsing) return undefined;
    let left = false;
    void relay.getRehearsal().then((got) => left || setHeld(got.ok ? got.value : null));
    return () => {
      left = true;
    };
  }, [relay, rehearsing, section]);
  return rehearsing ? held : null;
}

/** How many differ, of each section in which any does. `section`: the one that is shown. */
export function useChangedSettings(section: SettingsSection | null): ReadonlyMap<SettingsSection, number> {
  const state = useRoost();
  const settings = useHousehold((household) => household.settings);
  const limits = useQuery(state.limits.query);
  const prices = useQuery(costQueriesOf(state).prices);
  const atRelay = useDevices(({ status }) => (keepsNothingAtRelay(status) ? 1 : 0));
  const rehearsal = useRehearsal(section);
  const told = toldOf(state);
  // With what the relay tells of devices the choice of this one may be another.
  useQuery(told.shown);
  const ofLedger = Object.entries(IN_SECTION).map(
    ([name, keys]) => [name as SettingsSection, keys.filter((key) => isChanged(settings, key)).length] as const,
  );
  const own = limits.kind === 'ready' ? limits.value.own : null;
  const others: readonly (readonly [SettingsSection, number])[] = [
    ['limits', own === null ? 0 : changedLimits(own)],
    ['costs', (own === null ? 0 : changedBudgets(own)) + (prices.kind === 'ready' && !areOwn(prices.value) ? 1 : 0)],
    ['notifications', differing(told.choice(), USUAL_CHOICE)],
    ['devices', atRelay],
    ['rehearsal', rehearsal === null ? 0 : differing(rehearsal, rehearsalSchema.parse({}))],
  ];
  return new Map([...ofLedger, ...others].filter(([, many]) => many > 0));
}
