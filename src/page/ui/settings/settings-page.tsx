import { lazy, Suspense, useEffect, useId, useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { useLocationProperty } from 'wouter/use-browser-location';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import { AttachedSection } from '../attached/attached-section.tsx';
import { ClientsSection } from '../clients/clients-section.tsx';
import { CostsSection } from '../costs/costs-section.tsx';
import { CopiesSection } from '../copies/copies-section.tsx';
import { NotificationsSection } from '../notifications/notifications-section.tsx';
import { DevicesSection } from '../devices/devices-section.tsx';
import { ProgramsSection } from '../programs/programs-section.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { PATHS, SETTINGS_SECTIONS, type SettingsSection } from '../routes.ts';
import { useRehearsing } from '../models/chip.tsx';
import { LimitsSection } from '../limits/limits-section.tsx';
import { PromptSection } from './prompt-section.tsx';
import { useChangedSettings } from './changed.ts';
import { SECTIONS, sectionsIn, SETTINGS_GROUPS, settingsNamed } from './named.ts';
import { RehearsalSection } from './rehearsal-section.tsx';
import { About, Minds, People, Waking } from './sections.tsx';
import { InsideSection } from '../storage/inside-section.tsx';
import { StorageSection } from '../storage/storage-section.tsx';
import { BackIcon } from '../parts/icons.tsx';
import { TeamSection } from './team-section.tsx';
import { TWO_VIEWS_BELOW, useMedia } from '../use-media.ts';
import { keyOf } from '../parts/keys.ts';
import './settings.css';

const ChangesSection = lazy(() => import('../changes/changes-section.tsx'));

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
    case 'changes':
      return (
        <Suspense fallback={null}>
          <ChangesSection />
        </Suspense>
      );
    case 'costs':
      return <CostsSection />;
    case 'clients':
      return <ClientsSection />;
    case 'programs':
      return <ProgramsSection />;
    case 'attached':
      return <AttachedSection />;
    case 'devices':
      return <DevicesSection />;
    case 'notifications':
      return <NotificationsSection />;
    case 'storage':
      return <StorageSection />;
    case 'inside':
      return <InsideSection />;
    case 'copies':
      return <CopiesSection />;
    case 'about':
      return <About />;
    default:
      return section satisfies never;
  }
}

/** What is called so, on the section that is shown: it may still be on its way. */
function useArrival(section: SettingsSection | null): void {
  const name = useLocationProperty(() => location.hash.slice(1));
  useEffect(() => {
    if (name === '' || section === null) return undefined;
    const wanted = decodeURIComponent(name);
    const arrive = () => {
      const found = [...document.querySelectorAll<HTMLElement>('.settings-section :is(h2, h3, label, legend)')].find(
        (each) => each.textContent.trim().startsWith(wanted),
      );
      if (!found) return false;
      found.scrollIntoView?.({ block: 'center' });
      const field = found instanceof HTMLLabelElement ? found.control : null;
      if (!field) found.tabIndex = -1;
      (field ?? found).focus();
      return true;
    };
    if (arrive()) return undefined;
    const arrivals = new MutationObserver(() => {
      if (arrive()) arrivals.disconnect();
    });
    arrivals.observe(document.body, { childList: true, subtree: true });
    return () => arrivals.disconnect();
  }, [section, name]);
}

/** Sections by their groups, or, while one types, the settings that are called so. */
function Sections({ shown, current }: { shown: readonly SettingsSection[]; current: SettingsSection | null }) {
  const [typed, setTyped] = useState('');
  const changed = useChangedSettings(current);
  const hits = settingsNamed(typed).filter(({ section }) => shown.includes(section));
  const list = useId();
  const isList = useMedia(TWO_VIEWS_BELOW);
  return (
    <nav className="settings-nav" aria-label={t`Settings`}>
      <input
        type="search"
        className="field settings-search"
        aria-label={t`Find a setting`}
        aria-controls={list}
        placeholder={t`Find a setting`}
        autoComplete="off"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={(event) => {
          if (keyOf(event) !== 'Escape' || typed === '') return;
          event.stopPropagation();
          setTyped('');
        }}
      />
      <div id={list} className="settings-groups">
        {typed.trim() === '' ? (
          SETTINGS_GROUPS.map((group) => {
            const sections = sectionsIn(group, shown);
            if (sections.length === 0) return null;
            return (
              <div key={group} role="group" aria-label={group} className="settings-group">
                <h2 aria-hidden="true">{group}</h2>
                {sections.map((one) => (
                  <Link
                    key={one}
                    href={PATHS.settings(one)}
                    // As much as is seen of it, which is more on a phone: whoever speaks to the
                    // page says what they see.
                    aria-labelledby={`${list}-${one}-title ${list}-${one}${isList ? '' : '-changed'}`}
                    aria-describedby={isList ? undefined : `${list}-${one}`}
                    aria-current={one === current ? 'page' : undefined}
                  >
                    <span id={`${list}-${one}-title`}>{SECTIONS[one].title}</span>{' '}
                    <small id={`${list}-${one}`}>
                      {changed.has(one) && <em id={`${list}-${one}-changed`}>{t`${changed.get(one)} changed`} </em>}
                      <span>{SECTIONS[one].about}</span>
                    </small>
                  </Link>
                ))}
              </div>
            );
          })
        ) : hits.length === 0 ? (
          <p className="settings-none" role="status">{t`No setting is called so.`}</p>
        ) : (
          <div role="group" aria-label={t`Found`} className="settings-group">
            {hits.map(({ section, name }) => (
              <Link key={`${section} ${name}`} href={PATHS.settings(section, name)} onClick={() => setTyped('')}>
                <span>{name}</span>
                <small>{SECTIONS[section].title}</small>
              </Link>
            ))}
          </div>
        )}
      </div>
    </nav>
  );
}

/** `section` null: on a phone the list of them, where there is room the first one beside it. */
export default function SettingsPage({
  section,
  agentId,
  onClose,
}: {
  section: SettingsSection | null;
  agentId: AgentId | null;
  onClose: () => void;
}) {
  const rehearsing = useRehearsing();
  const sections = SETTINGS_SECTIONS.filter((one) => one !== 'rehearsal' || rehearsing || section === 'rehearsal');
  useArrival(section);
  const shown = section ?? 'people';
  const { title } = SECTIONS[shown];
  return (
    <div className="settings" data-at={section === null ? 'list' : 'section'}>
      <PageHead
        title={t`Settings`}
        pageTitle={section === null ? t`Settings` : t`${title} · Settings`}
        onClose={onClose}
      />
      <Link className="ghost settings-back" href={PATHS.settings()}>
        <BackIcon /> {t`All settings`}
      </Link>
      <Sections shown={sections} current={shown} />
      <section className="settings-section" key={shown} aria-labelledby="settings-title">
        <h2 id="settings-title">{title}</h2>
        {content(shown, agentId)}
      </section>
    </div>
  );
}
