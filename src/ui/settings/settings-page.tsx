import { useEffect, useRef, type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import type { AgentId } from '../../domain/ids.ts';
import { AttachedSection } from '../attached/attached-section.tsx';
import { ClientsSection } from '../clients/clients-section.tsx';
import { CostsSection } from '../costs/costs-section.tsx';
import { CopiesSection } from '../copies/copies-section.tsx';
import { DevicesSection } from '../devices/devices-section.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { PATHS, SETTINGS_SECTIONS, type SettingsSection } from '../routes.ts';
import { useRehearsing } from '../models/chip.tsx';
import { LimitsSection } from '../limits/limits-section.tsx';
import { PromptSection } from './prompt-section.tsx';
import { seatNumber } from '../../domain/seat.ts';
import type { Rehearsal } from '../../protocol/http.ts';
import { problemText } from '../../state/ports.ts';
import { useRoost } from '../context.tsx';
import { POSITIONS } from '../grid/seat-view.ts';
import { About, Minds, People, Waking } from './sections.tsx';
import { StorageSection } from '../storage/storage-section.tsx';
import { TeamSection } from './team-section.tsx';
import './settings.css';

type SeatList = 'fail' | 'silent' | 'cut' | 'nameless' | 'sameName';
const COLUMNS: readonly { readonly key: SeatList; readonly title: string }[] = [
  { key: 'fail', title: 'Fails' },
  { key: 'silent', title: 'Stays silent' },
  { key: 'cut', title: 'Is cut off' },
  { key: 'nameless', title: 'Finds no name' },
  { key: 'sameName', title: 'Same name' },
];

type Loaded =
  | { readonly kind: 'loading' }
  | { readonly kind: 'none' }
  | { readonly kind: 'failed'; readonly text: string }
  | { readonly kind: 'ready'; readonly rehearsal: Rehearsal };

/** How the rehearsal mind is told to misbehave: for trying out what Roost does then. */
// In one piece: one form, each of its fields in a line or two.
function RehearsalSection() {
  const { relay, notices } = useRoost();
  const [loaded, setLoaded] = useState<Loaded>({ kind: 'loading' });
  useEffect(() => {
    let current = true;
    void relay.getRehearsal().then((got) => {
      if (!current) return;
      if (got.ok) setLoaded({ kind: 'ready', rehearsal: got.value });
      else if (got.problem.kind === 'refused' && got.problem.status === 404) setLoaded({ kind: 'none' });
      else setLoaded({ kind: 'failed', text: problemText(got.problem) });
    });
    return () => {
      current = false;
    };
  }, [relay]);

  if (loaded.kind === 'loading') return <p className="settings-note">Asking the relay…</p>;
  if (loaded.kind === 'none')
    return <p className="settings-note">A real mind is connected: there is nothing to rehearse.</p>;
  if (loaded.kind === 'failed')
    return (
      <p className="settings-note" role="alert">
        {loaded.text}
      </p>
    );

  const { rehearsal } = loaded;
  const change = async (part: Partial<Rehearsal>) => {
    const put = await relay.putRehearsal({ body: { ...rehearsal, ...part } });
    if (put.ok) setLoaded({ kind: 'ready', rehearsal: put.value });
    else notices.refused(put.problem);
  };
  const toggle = (key: SeatList, position: number) => {
    const held = rehearsal[key];
    void change({
      [key]: held.includes(position) ? held.filter((seat) => seat !== position) : [...held, position].sort(),
    });
  };
  const number = (key: 'delayMs' | 'wordMs' | 'seed', label: string, max: number) => (
    <label className="rehearsal-number">
      {label}
      <input
        key={rehearsal[key]}
        className="field field-number"
        inputMode="numeric"
        defaultValue={rehearsal[key]}
        onBlur={(event) => {
          const value = Number(event.target.value);
          if (Number.isInteger(value) && value >= 0 && value <= max && value !== rehearsal[key])
            void change({ [key]: value });
          else event.target.value = String(rehearsal[key]);
        }}
      />
    </label>
  );

  return (
    <>
      <p className="settings-note">
        Nobody is thinking: a small stand-in plays all the parts. Tell it to misbehave, and see what becomes of a wake.
        It holds at once, until the relay is started again.
      </p>
      {/* Scrolls by itself on narrow screens, so it can be reached by keyboard. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className="rehearsal-table" role="region" aria-label="What each seat does" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">Seat</th>
              {COLUMNS.map((column) => (
                <th key={column.key} scope="col">
                  {column.title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {POSITIONS.map((position) => (
              <tr key={position}>
                <th scope="row">{position === 4 ? '5, the lead' : seatNumber(position)}</th>
                {COLUMNS.map(({ key, title }) => (
                  <td key={key}>
                    <label className="tick">
                      <input
                        type="checkbox"
                        checked={rehearsal[key].includes(position)}
                        onChange={() => toggle(key, position)}
                      />
                      <span className="visually-hidden">
                        Seat {seatNumber(position)}: {title}
                      </span>
                    </label>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <label className="tick-line">
        <input
          type="checkbox"
          checked={rehearsal.leadIgnores}
          onChange={() => void change({ leadIgnores: !rehearsal.leadIgnores })}
        />
        The lead does not call the team
      </label>
      <div className="rehearsal-numbers">
        {number('delayMs', 'Before the first word, ms', 600_000)}
        {number('wordMs', 'Between words, ms', 10_000)}
        {number('seed', 'Seed', Number.MAX_SAFE_INTEGER)}
      </div>
    </>
  );
}

const TITLES: Record<SettingsSection, string> = {
  people: 'Names',
  minds: 'Models',
  waking: 'Waking',
  limits: 'Limits',
  prompt: 'Wake prompt',
  rehearsal: 'Rehearsal',
  team: 'Team',
  costs: 'Costs',
  clients: 'Other clients',
  attached: 'Attached servers',
  devices: 'Devices',
  storage: 'Storage',
  copies: 'Export & import',
  about: 'About',
};

function content(section: SettingsSection, agentId: AgentId | null): ReactNode {
  switch (section) {
    case 'people':
      return <People />;
    case 'minds':
      return <Minds />;
    case 'waking':
      return <Waking />;
    case 'limits':
      return <LimitsSection key={agentId} agentId={agentId} />;
    case 'prompt':
      return <PromptSection />;
    case 'rehearsal':
      return <RehearsalSection />;
    case 'team':
      return <TeamSection />;
    case 'costs':
      return <CostsSection />;
    case 'clients':
      return <ClientsSection />;
    case 'attached':
      return <AttachedSection />;
    case 'devices':
      return <DevicesSection />;
    case 'storage':
      return <StorageSection />;
    case 'copies':
      return <CopiesSection />;
    case 'about':
      return <About />;
    default:
      return section satisfies never;
  }
}

export default function SettingsPage({
  section,
  agentId,
  onClose,
}: {
  section: SettingsSection;
  agentId: AgentId | null;
  onClose: () => void;
}) {
  const rehearsing = useRehearsing();
  const sections = SETTINGS_SECTIONS.filter((one) => one !== 'rehearsal' || rehearsing || section === 'rehearsal');
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    // On a phone the sections are a row that scrolls.
    nav.current?.querySelector('[aria-current]')?.scrollIntoView?.({ block: 'nearest', inline: 'center' });
  }, [section]);
  return (
    <div className="settings">
      <PageHead title="Settings" pageTitle={`${TITLES[section]} · Settings`} onClose={onClose} />
      <nav ref={nav} className="settings-nav" aria-label="Settings">
        {sections.map((one) => (
          <Link key={one} href={PATHS.settings(one)} aria-current={one === section ? 'page' : undefined}>
            {TITLES[one]}
          </Link>
        ))}
      </nav>
      <section className="settings-section" key={section} aria-labelledby="settings-title">
        <h2 id="settings-title">{TITLES[section]}</h2>
        {content(section, agentId)}
      </section>
    </div>
  );
}
