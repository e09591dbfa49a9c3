/**
 * The root component: chooses the first screen, lays out grid and conversation, and opens full-page
 * views, the palette and dialogs.
 */
import '@fontsource-variable/inter/wght.css';
import '@fontsource/pixelify-sans/latin-400.css';
import '@fontsource/pixelify-sans/latin-ext-400.css';
import { t } from '../language/t.ts';
import './design/tokens.css';
import './design/base.css';
import './design/buttons.css';
import './design/fields.css';
import './design/list.css';
import './design/tabs.css';
import './design/dialog.css';
import './design/menu.css';
import './design/one-of.css';
import './design/progress.css';
import './design/used-bar.css';
import './design/excerpt.css';
import './design/drop-zone.css';
import './design/layout.css';
import './design/page.css';
import './design/table.css';
import './app.css';
import { lazy, startTransition, Suspense, useCallback, useEffect, useRef, useState, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { displayName } from '../../shared/domain/agent.ts';
import { LEAD_ID } from '../../shared/domain/seat.ts';
import { type Awaited, awaitedOf, type FirstScreen, firstScreenOf } from '../state/last-team.ts';
import { leadNameOf } from '../state/household.ts';
import { ConversationView } from './chat/conversation.tsx';
import type { Around } from './commands/command.ts';
import { useDevices, useHousehold, useInfo, useRoost } from './context.tsx';
import { DeviceDialog, takeCameByCode } from './devices/later.tsx';
import { Hearth } from './grid/hearth.tsx';
import { keepTyped, OpensFind, type Within, withinOf } from './palette/typed-ahead.ts';
import { keepDialogsWhileComposing } from './design/keys.ts';
import { optional, Part } from './parts/part.tsx';
import { movedPath, PATHS, useRoute, type Route } from './routes.ts';
import { Arrival, Opening, Sky } from './shell/opening.tsx';
import { Banners, NoticeList } from './shell/banners.tsx';
import { BottomBar } from './shell/bottom-bar.tsx';
import { Header } from './shell/header.tsx';
import { useClosedByBack, useFocusPlace, useKeys } from './shell/window.ts';
import { TWO_VIEWS_BELOW, useMedia, useTitle } from './hooks.ts';

const Breath = optional(() => import('./grid/breath.tsx'));
const AgentPanel = optional(() => import('./agent/agent-panel.tsx'));
const PortraitPage = lazy(() => import('./portrait/portrait-page.tsx'));
const ChangeDialog = lazy(() => import('./agent/change-dialog.tsx'));
const InboxDialog = lazy(() => import('./inbox/inbox-dialog.tsx'));
const MorningPage = lazy(() => import('./schedule/morning-page.tsx'));
const InboxPage = lazy(() => import('./inbox/inbox-page.tsx'));
const ActivityPage = lazy(() => import('./activity/activity-page.tsx'));
const SettingsPage = lazy(() => import('./settings/settings-page.tsx'));
const AdoptDialog = lazy(() => import('./exports/adopt-dialog.tsx'));
const ThreadsPage = lazy(() => import('./threads/threads-page.tsx'));
const ProjectsPage = lazy(() => import('./projects/projects-page.tsx'));
const EveryonePage = lazy(() => import('./everyone/everyone-page.tsx'));
const SchedulePage = lazy(() => import('./schedule/schedule-page.tsx'));
const KeysDialog = lazy(() => import('./shell/keys-dialog.tsx'));
const Palette = lazy(() => import('./palette/palette.tsx'));
const ConnectDialog = lazy(() => import('./models/connect-dialog.tsx'));
const MoveInPage = lazy(() => import('./exports/move-in-page.tsx'));
const FilesPage = lazy(() => import('./files/files-page.tsx'));
const first = () => import('./welcome/first.ts');
const WelcomePage = lazy(() => first().then(({ WelcomePage: Page }) => ({ default: Page })));
const AskedPage = lazy(() => first().then(({ AskedPage: Page }) => ({ default: Page })));
const ReturningPage = lazy(() => import('./welcome/returning.tsx'));
const WaitingSign = optional(() => import('./notifications/waiting-sign.tsx'));
const WakePreview = lazy(() => import('./preview/wake-preview.tsx'));
const ChooseWho = lazy(() => import('./grid/choose-who.tsx'));

/**
 * As in the style sheets, in em: from this width on, the agent's panel stands beside the
 * conversation.
 */
const THREE_COLUMNS_FROM = '(min-width: 73.75em)';

/** The view that covers the whole page, or null where the team and a conversation are shown. */
function wholePage(
  route: Route,
  onClose: () => void,
): { readonly view: 'page' | 'threads' | 'projects'; readonly page: ReactNode } | null {
  switch (route.kind) {
    case 'settings':
      return { view: 'page', page: <SettingsPage section={route.section} agentId={route.agentId} onClose={onClose} /> };
    case 'portrait':
      return { view: 'page', page: <PortraitPage key={route.agentId} {...route} /> };
    case 'inbox':
      return { view: 'page', page: <InboxPage onClose={onClose} /> };
    case 'activity':
      return { view: 'page', page: <ActivityPage tab={route.tab} agentId={route.agentId} onClose={onClose} /> };
    case 'threads':
      return { view: 'threads', page: <ThreadsPage route={route} /> };
    case 'projects':
    case 'project':
      return { view: 'projects', page: <ProjectsPage route={route} onClose={onClose} /> };
    case 'everyone':
      return { view: 'page', page: <EveryonePage onClose={onClose} /> };
    case 'move-in':
      return { view: 'page', page: <MoveInPage onClose={onClose} /> };
    case 'schedule':
      return { view: 'page', page: <SchedulePage agentId={route.agentId} onClose={onClose} /> };
    case 'files':
      return { view: 'page', page: <FilesPage agentId={route.agentId} folder={route.folder} onClose={onClose} /> };
    case 'file-history':
      return { view: 'page', page: <FilesPage agentId={route.agentId} folder="" history={route} onClose={onClose} /> };
    case 'hearth':
    case 'morning':
    case 'agent':
    case 'adopt':
    case 'preview':
    case 'wake-some':
    case 'connect':
      return null;
    default:
      return route satisfies never;
  }
}

function Home() {
  const { route, go } = useRoute();
  const roster = useHousehold((state) => state.roster);
  const settings = useHousehold((state) => state.settings);
  const [talkTo, setTalkTo] = useState(LEAD_ID);
  const ofOne = route.kind === 'agent' || route.kind === 'portrait';
  if (ofOne && route.agentId !== talkTo) setTalkTo(route.agentId);
  // An agent that is being forgotten is hidden, except at its own address.
  const gone = useHousehold((state) =>
    state.forgetting.some(({ target }) => target.kind === 'agent' && target.agentId === talkTo),
  );
  if (gone && !ofOne) setTalkTo(LEAD_ID);
  const twoViews = useMedia(TWO_VIEWS_BELOW);
  const beside = useMedia(THREE_COLUMNS_FROM);
  const agent = talkTo === LEAD_ID ? undefined : roster.byId.get(talkTo);
  const name = agent ? displayName(agent, roster) : talkTo === LEAD_ID ? leadNameOf(roster, settings) : t`An egg`;
  const whole = wholePage(route, () => go(twoViews ? PATHS.hearth : PATHS.agent(talkTo)));
  const isMorning = route.kind === 'morning';
  const view = whole?.view ?? (route.kind === 'agent' || isMorning ? 'talk' : 'hearth');
  useTitle(whole || isMorning ? null : route.kind === 'agent' && route.over === 'inbox' ? t`Inbox of ${name}` : name);
  const begunRef = useRef(false);

  return (
    <>
      <main id="main" className="home stack shrinks" data-view={view}>
        {whole ? (
          <Suspense fallback={<p className="lazy ink-3" role="status">{t`Loading…`}</p>}>
            <Part key={view}>{whole.page}</Part>
            <Arrival
              at={route.kind === 'threads' && route.threadId !== null ? 'thread' : route.kind}
              begunRef={begunRef}
            />
          </Suspense>
        ) : (
          <>
            {(!twoViews || view === 'hearth') && (
              <Part>
                <Hearth selected={isMorning || (twoViews && view === 'hearth') ? null : talkTo} />
              </Part>
            )}
            {(!twoViews || view === 'talk') && (
              <Part key={isMorning ? 'morning' : talkTo}>
                {isMorning ? (
                  <Suspense fallback={null}>
                    <MorningPage />
                  </Suspense>
                ) : (
                  <ConversationView agentId={talkTo} visible />
                )}
              </Part>
            )}
            {beside && (
              <aside className="beside scroll ruled-start" aria-label={t`About ${name}`}>
                <h2 className="visually-hidden">{t`About ${name}`}</h2>
                <Part>
                  <AgentPanel agentId={talkTo} />
                </Part>
              </aside>
            )}
            <Arrival at={view} begunRef={begunRef} />
          </>
        )}
      </main>
      <Breath />
      <Part>
        <Suspense fallback={null}>
          {route.kind === 'preview' && <WakePreview onClose={() => go(PATHS.hearth)} />}
          {route.kind === 'wake-some' && <ChooseWho onClose={() => go(PATHS.hearth)} />}
          {route.kind === 'adopt' && <AdoptDialog position={route.position} onClose={() => go(PATHS.hearth)} />}
          {route.kind === 'agent' && route.over === 'inbox' && (
            <InboxDialog agentId={talkTo} name={name} onClose={() => go(PATHS.agent(talkTo))} />
          )}
          {route.kind === 'agent' && route.over === 'change' && (
            <ChangeDialog agentId={talkTo} onClose={() => go(PATHS.agent(talkTo))} />
          )}
        </Suspense>
      </Part>
    </>
  );
}

function First({ screen, awaited }: { screen: FirstScreen; awaited: Awaited | null }) {
  switch (screen) {
    case 'opening':
      return <Opening awaited={awaited} />;
    case 'returning':
      return (
        <Suspense fallback={<Opening awaited={null} />}>
          <ReturningPage />
        </Suspense>
      );
    case 'welcome':
      return (
        <Suspense fallback={<Opening awaited={null} />}>
          <WelcomePage onBegun={() => document.querySelector<HTMLElement>('.big-button')?.focus()} />
        </Suspense>
      );
    case 'asked':
      return (
        <Suspense fallback={<Opening awaited={null} />}>
          <AskedPage />
        </Suspense>
      );
    case 'home':
      return <Home />;
    default:
      return screen satisfies never;
  }
}

/** Keys that work before there is a team. */
const ALWAYS: readonly string[] = ['keys', 'back', 'hearth', 'write'];

export function App() {
  const status = useHousehold((state) => state.status);
  const roster = useHousehold((state) => state.roster);
  const sync = useDevices((state) => state.status);
  const syncFailed = useDevices((state) => state.failed);
  const home = useInfo((state) => state.home);
  const begun = roster.lead !== null;
  const { route, go } = useRoute();
  const [help, setHelp] = useState(false);
  /** `within`: restricts the search. */
  const [palette, setPalette] = useState<{ readonly within: Within | null } | null>(null);
  // The page was opened by another device's code: this device joins, whatever else is shown.
  const [joins, setJoins] = useState(takeCameByCode);
  const focus = useFocusPlace(
    route.kind,
    useCallback(() => go(PATHS.hearth), [go]),
  );
  const find = useCallback((within: Within) => startTransition(() => setPalette({ within })), []);
  const roost = useRoost();
  const [path] = useLocation();
  const moved = movedPath(path);
  useEffect(() => {
    if (moved !== null) go(moved, { replace: true });
  }, [moved, go]);
  const twoViews = useMedia(TWO_VIEWS_BELOW);
  const around: Around = {
    roost,
    route,
    go,
    focus,
    // A transition waits for modules that are still loading. Otherwise React would show an empty
    // fallback for a moment.
    open: (what) => {
      if (what !== 'keys') keepTyped(roost.device.after);
      startTransition(() =>
        what === 'keys' ? setHelp(true) : setPalette({ within: what === 'find' ? withinOf(route) : null }),
      );
    },
  };
  useKeys(around, ({ id }) => begun || ALWAYS.includes(id));
  useEffect(() => {
    const ended = new AbortController();
    const { signal } = ended;
    keepDialogsWhileComposing(signal);
    void import('./shell/late-window.ts').then(({ followWindow }) => followWindow(signal));
    return () => ended.abort();
  }, []);
  const isOver = palette !== null || help;
  useClosedByBack(
    isOver,
    useCallback(() => {
      setPalette(null);
      setHelp(false);
    }, []),
  );
  const inputs = { household: { status, roster }, sync, syncFailed, home };
  const screen = firstScreenOf(inputs);
  return (
    <div className="app stack">
      <Sky />
      <a className="skip-link" href="#main">{t`Skip to the team`}</a>
      <Part>
        <Header begun={begun} around={around} />
      </Part>
      <div className="banners">
        <Part>
          {begun && <WaitingSign />}
          <Banners />
          <NoticeList />
        </Part>
      </div>
      {joins && (
        <DeviceDialog
          open="join"
          byCode
          onClose={() => setJoins(false)}
          onJoined={() => {
            setJoins(false);
            go(PATHS.hearth);
          }}
        />
      )}
      <OpensFind value={find}>
        <First screen={screen} awaited={awaitedOf(inputs)} />
      </OpensFind>
      {twoViews && screen === 'home' && (
        <Part>
          <BottomBar around={around} />
        </Part>
      )}
      <Suspense fallback={null}>
        {route.kind === 'connect' && <ConnectDialog onClose={() => go(PATHS.hearth)} />}
      </Suspense>
      <Part>
        <Suspense fallback={null}>
          {palette && (
            <Palette
              onClose={() => setPalette(null)}
              // Navigation from here replaces the palette's entry in the history.
              around={{ ...around, go: (path) => go(path, { replace: true }) }}
              within={palette.within}
            />
          )}
          {help && <KeysDialog onClose={() => setHelp(false)} />}
        </Suspense>
      </Part>
    </div>
  );
}
