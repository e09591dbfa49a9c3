/** The settings: six pages and the advanced ones, their search, and the parts of each page. */
import { lazy, type ReactNode, Suspense, useEffect, useId, useRef, useState } from 'react';
import { Link } from 'wouter';
import { useLocationProperty } from 'wouter/use-browser-location';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import { McpSection } from '../mcp/mcp-section.tsx';
import { ClientsSection } from '../clients/clients-section.tsx';
import { ExportsSection } from '../exports/exports-section.tsx';
import { CostsSection } from '../costs/costs-section.tsx';
import { BackIcon } from '../design/icons.tsx';
import { keyOf } from '../design/keys.ts';
import { DevicesSection } from '../devices/devices-section.tsx';
import { AgentsMayDo } from '../limits/agents-may-do.tsx';
import { NotificationsSection } from '../notifications/notifications-section.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { ProgramsSection } from '../programs/programs-section.tsx';
import { PATHS, useRoute } from '../routes.ts';
import { StorageSection } from '../storage/storage-section.tsx';
import { About } from './about.tsx';
import { Advanced } from './advanced.tsx';
import { Minds } from './models.tsx';
import { PAGES, SECTIONS, settingsNamed } from './named.ts';
import {
  pageOfSection,
  partsOfPage,
  SETTINGS_PAGE_NAMES,
  type SettingsPageName,
  type SettingsSection,
} from './pages.ts';
import { People } from './people.tsx';
import { PromptSection } from './prompt.tsx';
import { TeamSection } from './team.tsx';
import './settings.css';

const PrivacySection = lazy(() => import('../privacy/privacy-section.tsx'));
const ChangesSection = lazy(() => import('../changes/changes-section.tsx'));

function content(section: SettingsSection, agentId: AgentId | null): ReactNode {
  switch (section) {
    case 'people':
      return <People />;
    case 'notifications':
      return <NotificationsSection />;
    case 'changes':
      return (
        <Suspense fallback={null}>
          <ChangesSection />
        </Suspense>
      );
    case 'about':
      return <About />;
    case 'team':
      return <TeamSection />;
    case 'limits':
      return <AgentsMayDo key={agentId} agentId={agentId} />;
    case 'minds':
      return <Minds />;
    case 'costs':
      return <CostsSection />;
    case 'programs':
      return <ProgramsSection />;
    case 'mcp':
      return <McpSection />;
    case 'clients':
      return <ClientsSection />;
    case 'devices':
      return <DevicesSection />;
    case 'storage':
      return <StorageSection />;
    case 'exports':
      return <ExportsSection />;
    case 'privacy':
      return (
        <Suspense fallback={null}>
          <PrivacySection />
        </Suspense>
      );
    case 'advanced':
      return <Advanced key={agentId} agentId={agentId} />;
    case 'prompt':
      return <PromptSection />;
    default:
      return section satisfies never;
  }
}

/** Scrolls to the setting in the address. Its section may still be loading. */
function useArrival(section: SettingsSection | null): void {
  const name = useLocationProperty(() => location.hash.slice(1));
  useEffect(() => {
    if (name === '' || section === null) return undefined;
    const sectionName = decodeURIComponent(name);
    const arrive = () => {
      const heading = [...document.querySelectorAll<HTMLElement>('.settings-section :is(h2, h3, label, legend)')].find(
        (each) => each.textContent.trim().startsWith(sectionName),
      );
      if (!heading) return false;
      heading.scrollIntoView?.({ block: 'center' });
      const field = heading instanceof HTMLLabelElement ? heading.control : null;
      if (!field) heading.tabIndex = -1;
      (field ?? heading).focus();
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

/** Addresses of earlier versions become those of today. */
function useCanonical(section: SettingsSection | null, agentId: AgentId | null): void {
  const { go } = useRoute();
  useEffect(() => {
    if (section === null) return;
    const path =
      section === 'limits'
        ? PATHS.limits(agentId)
        : section === 'advanced'
          ? PATHS.advanced(agentId)
          : PATHS.settings(section);
    if (location.pathname !== path) go(`${path}${location.hash}`, { replace: true });
  }, [section, agentId, go]);
}

/** The pages or, while the person searches, the matching settings. */
function Pages({ shown, current }: { shown: readonly SettingsSection[]; current: SettingsPageName }) {
  const [typed, setTyped] = useState('');
  const hits = settingsNamed(typed).filter(({ section }) => shown.includes(section));
  const list = useId();
  return (
    <nav className="settings-nav column-wise gap-5 flex scroll-y" aria-label={t`Settings`}>
      <input
        type="search"
        className="field settings-search fixed min-40"
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
      <div id={list} className="settings-pages stack gap-1">
        {typed.trim() === ''
          ? SETTINGS_PAGE_NAMES.map((page) => (
              <Link
                key={page}
                href={PATHS.settings(partsOfPage(page)[0])}
                aria-labelledby={`${list}-${page} ${list}-${page}-about`}
                aria-current={page === current ? 'page' : undefined}
              >
                <span id={`${list}-${page}`}>{PAGES[page].title}</span>{' '}
                <small className="text-1" id={`${list}-${page}-about`}>
                  {PAGES[page].about}
                </small>
              </Link>
            ))
          : hits.map(({ section, name }) => (
              <Link key={`${section} ${name}`} href={PATHS.settings(section, name)} onClick={() => setTyped('')}>
                <span>{name}</span> <small>{PAGES[pageOfSection(section)].title}</small>
              </Link>
            ))}
        {typed.trim() !== '' && hits.length === 0 && (
          <p className="setting-hint" role="status">{t`No results for “${typed.trim()}”`}</p>
        )}
      </div>
    </nav>
  );
}

/** A part of a page that opens in place. */
function Part({ section, open }: { section: SettingsSection; open: boolean }) {
  const [first] = partsOfPage(pageOfSection(section));
  const id = useId();
  const ref = useRef<HTMLElement>(null);
  useEffect(() => {
    if (open && location.hash === '') ref.current?.scrollIntoView?.({ block: 'start' });
  }, [open]);
  return (
    <section ref={ref} className="settings-part ruled" aria-labelledby={id} data-open={open}>
      <h3>
        <Link href={PATHS.settings(open && first !== undefined ? first : section)} aria-expanded={open}>
          <span id={id}>{SECTIONS[section]}</span>
        </Link>
      </h3>
      {open && content(section, null)}
    </section>
  );
}

/** `section` null: the list on a phone; where there is room, the first page beside it. */
export default function SettingsPage({
  section,
  agentId,
  onClose,
}: {
  section: SettingsSection | null;
  agentId: AgentId | null;
  onClose: () => void;
}) {
  useCanonical(section, agentId);
  useArrival(section);
  const page = section === null ? 'you' : pageOfSection(section);
  const [first, ...others] = partsOfPage(page);
  const { title } = PAGES[page];
  return (
    <div className="settings stack rows-top" data-at={section === null ? 'list' : 'section'} data-page={page}>
      <PageHead
        title={t`Settings`}
        pageTitle={[...(section === null ? [] : [title]), t`Settings`].join(' · ')}
        onClose={onClose}
      />
      <Link className="ghost settings-back" href={PATHS.settings()}>
        <BackIcon /> {t`All settings`}
      </Link>
      <Pages shown={SETTINGS_PAGE_NAMES.flatMap(partsOfPage)} current={page} />
      <section className="settings-section panel round-l narrow framed" key={page} aria-labelledby="settings-title">
        <h2 className="under-6" id="settings-title">
          {title}
        </h2>
        {first !== undefined && content(first, agentId)}
        {others.map((part) => (
          <Part key={part} section={part} open={part === section} />
        ))}
      </section>
    </div>
  );
}
