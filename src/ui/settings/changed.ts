/** Which settings differ from what they are without anybody's doing. */
import { DEFAULT_SETTINGS, type SettingKey, type Settings } from '../../domain/settings.ts';
import { useHousehold } from '../context.tsx';
import type { SettingsSection } from '../routes.ts';

/** Settings of the household by the section in which they stand. Names are everybody's own, and no change. */
const IN_SECTION: Partial<Record<SettingsSection, readonly SettingKey[]>> = {
  waking: ['transcriptCap', 'wakeTimeoutMs', 'birthTimeoutMs', 'idleMs'],
  minds: ['leadModel', 'agentModel', 'maxAnswerTokens', 'contextTokens'],
  prompt: ['wakeTemplate'],
};

export const isChanged = (settings: Settings, key: SettingKey): boolean => settings[key] !== DEFAULT_SETTINGS[key];

/** How many differ, of each section in which any does. */
export function useChangedSettings(): ReadonlyMap<SettingsSection, number> {
  const settings = useHousehold((state) => state.settings);
  const counts = Object.entries(IN_SECTION).map(
    ([section, keys]) => [section as SettingsSection, keys.filter((key) => isChanged(settings, key)).length] as const,
  );
  return new Map(counts.filter(([, many]) => many > 0));
}
