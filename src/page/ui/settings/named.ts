/**
 * The settings by name: pages, their parts, and the settings in each. The settings page, its search
 * and the palette read this. A new part needs its name in `SETTINGS_PAGES` (`pages.ts`), an entry
 * here, and its content in `settings-page.tsx`.
 */
import { SETTING_TABLE } from '../../../shared/domain/setting-table.ts';
import { retold, t } from '../../language/t.ts';
import type { SettingsPageName, SettingsSection } from './pages.ts';

interface SectionInfo {
  readonly title: string;
  /** Its purpose, where only its name is visible. */
  readonly about: string;
}

export const PAGES: Readonly<Record<SettingsPageName, SectionInfo>> = {
  you: { title: t`You`, about: t`Names, language, notifications` },
  team: { title: t`Team`, about: t`Seats, retired agents` },
  agents: { title: t`What agents may do`, about: t`How far, how lively, quiet hours, budget` },
  models: { title: t`Models and money`, about: t`Models, connections, prices` },
  data: { title: t`Devices and data`, about: t`Your devices, storage, export` },
  privacy: { title: t`Privacy`, about: t`Forget, and search for what is left` },
  advanced: { title: t`Advanced`, about: t`Every limit in one table` },
};

export const SECTIONS: Readonly<Record<SettingsSection, string>> = {
  people: t`Names`,
  notifications: t`Notifications`,
  changes: t`What you changed`,
  about: t`About`,
  team: t`Team`,
  limits: t`What agents may do`,
  minds: t`Models`,
  costs: t`Budgets and prices`,
  programs: t`ACP agents`,
  mcp: t`MCP servers`,
  clients: t`API clients`,
  devices: t`Devices`,
  storage: t`Storage`,
  exports: t`Export & import`,
  privacy: t`Privacy`,
  advanced: t`All settings`,
  prompt: t`Wake prompt`,
};

export interface NamedSetting {
  readonly section: SettingsSection;
  /** Its label on the page, by which it is found there. */
  readonly name: string;
  /** Other search terms, in every language. Nobody reads them. */
  readonly words?: string;
}
const named = (section: SettingsSection, name: string, words: string): NamedSetting => ({ section, name, words });

/** Settings with a control of their own. */
const OWN: readonly NamedSetting[] = [
  named('people', t`Your name`, 'me call ich heißen'),
  named('people', t`Lead's name`, 'middle mitte'),
  named('people', t`Language`, 'english german translation words englisch deutsch übersetzung sprache'),
  named(
    'notifications',
    t`Tell me on this device, also while Roost is closed`,
    'push phone alert notify handy telefon hinweis benachrichtigen',
  ),
  named('notifications', t`Quiet hours`, 'night do not disturb nacht nicht stören'),
  named(
    'changes',
    t`What you changed`,
    'log history undo revert changes before protokoll verlauf rückgängig änderungen vorher',
  ),
  named('about', t`What stays here`, 'privacy version datenschutz'),
  named('about', t`What the model sees`, 'privacy datenschutz'),
  named('team', t`In their seats`, 'move retire agents colours umsetzen ruhestand agenten farben'),
  named(
    'limits',
    t`How far it may go`,
    'permission allow files run commands terminal bash sandbox shell erlaubnis erlauben dateien befehle ausführen',
  ),
  named('limits', t`How lively`, 'wakes careful normal brisk wecken vorsichtig flott'),
  named('limits', t`Quiet hours`, 'blackout night sperrzeit nacht'),
  named('limits', t`Time zone`, 'clock uhr'),
  named('limits', t`Budget a day`, 'dollars money limit dollar geld grenze'),
  named('minds', t`Model of the lead`, 'claude ollama'),
  named('minds', t`Model of the agents`, 'claude ollama'),
  named('costs', t`Daily budgets`, 'dollars money limit dollar geld grenze'),
  named('costs', t`Prices`, 'dollars tokens dollar'),
  named('programs', t`ACP agents`, 'claude code codex gemini acp mind denken'),
  named('mcp', t`MCP servers`, 'mcp tools werkzeuge'),
  named('clients', t`API clients`, 'claude code mcp credential api clients zugang programme'),
  named('devices', t`A second device`, 'phone sync add join handy telefon abgleich hinzufügen dazukommen'),
  named('devices', t`Recovery phrase`, '24 words backup wörter sicherung'),
  named('storage', t`Space used`, 'disk room platte raum'),
  named('storage', t`Rebuild`, 'repair missing reparieren fehlt'),
  named('exports', t`Export everything`, 'backup copy save sicherung kopie speichern'),
  named('exports', t`Import`, 'import restore backup copy importieren zurückholen sicherung kopie'),
  named(
    'exports',
    t`Move in from another product`,
    'import chatgpt claude letta openclaw export migrate importieren umzug umziehen',
  ),
  named('exports', t`Limits as YAML`, 'settings text einstellungen'),
  named('privacy', t`Forget a span of time`, 'delete remove erase löschen entfernen'),
  named('privacy', t`What was forgotten`, 'delete log history löschen Protokoll Verlauf'),
  named('privacy', t`Search everything for a sentence`, 'find still where privacy finden noch wo Datenschutz'),
  named('prompt', t`Template`, 'wake prompt words wecken text worte'),
];

export const NAMED_SETTINGS: readonly NamedSetting[] = [
  ...OWN,
  ...SETTING_TABLE.filter(({ group }) => group !== null).map(({ label, words = '' }) =>
    named('advanced', retold(label), words),
  ),
];

const plain = (text: string) => text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase();

/**
 * Settings that match the input. Every word must be the beginning of one of theirs, or of their
 * section's.
 */
export function settingsNamed(typed: string): readonly NamedSetting[] {
  const asked = plain(typed)
    .split(/\s+/)
    .filter((word) => word !== '');
  if (asked.length === 0) return [];
  const wordsOf = ({ section, name, words = '' }: NamedSetting) =>
    plain(`${name} ${words} ${SECTIONS[section]}`).split(/[^\p{L}\p{N}]+/u);
  return NAMED_SETTINGS.filter((setting) =>
    asked.every((each) => wordsOf(setting).some((word) => word.startsWith(each))),
  );
}
