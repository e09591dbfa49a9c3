import { useEffect, useRef, type ReactNode } from 'react';
import { Link } from 'wouter';
import { ClientsSection } from '../clients/clients-section.tsx';
import { CostsSection } from '../costs/costs-section.tsx';
import { CopiesSection } from '../copies/copies-section.tsx';
import { DevicesSection } from '../devices/devices-section.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { PATHS, SETTINGS_SECTIONS, type SettingsSection } from '../places.ts';
import { useRehearsing } from '../shell/rehearsal-note.tsx';
import { LimitsSection } from '../limits/limits-section.tsx';
import { PromptSection } from './prompt-section.tsx';
import { RehearsalSection } from './rehearsal-section.tsx';
import { About, Minds, People, Waking } from './sections.tsx';
import { StorageSection } from '../storage/storage-section.tsx';
import { TeamSection } from './team-section.tsx';
import './settings.css';

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
  devices: 'Devices',
  storage: 'Storage',
  copies: 'Export & import',
  about: 'About',
};

function content(section: SettingsSection, agentId: string | null): ReactNode {
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
  agentId: string | null;
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
      <PageHead title="Settings" place={`${TITLES[section]} · Settings`} onClose={onClose} />
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
