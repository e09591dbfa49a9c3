/**
 * The gallery: the page in states that are rare or hard to come by, each with the real components
 * and stores over a made-up household. For whoever works on it: it is served by `npm run dev` alone
 * and is in no build.
 *
 * `/gallery` shows them side by side; `/gallery?scene=NAME` is one of them.
 */
import { createRoot } from 'react-dom/client';
import { RoostProvider } from '../../src/page/ui/context.tsx';
import { App } from '../../src/page/ui/app.tsx';
import { fetchLaterParts } from '../../src/page/ui/later.ts';
import { Broken } from '../../src/page/ui/shell/broken.tsx';
import { lacksTexts, spoken } from '../../src/page/language/t.ts';
import { fetchTexts } from '../../src/page/language/fetch-texts.ts';
import { createRoostState } from '../../src/page/state/index.ts';
import { memoryExports, memoryOwner, memoryRelay, testDevice } from '../unit/page/support/fakes.ts';
import { NOW, NO_SESSION_SNAPSHOT } from '../unit/page/support/household.ts';
import { memoryReach } from '../unit/page/support/reach.ts';
import { DesignParts } from './design.tsx';
import { SCENES, type Scene } from './scenes.ts';
import './gallery.css';

const root = document.getElementById('root');
if (!root) throw new Error('The gallery has no #root to be mounted in');
const mount = createRoot(root);
const settled = () => new Promise((resolve) => setTimeout(resolve, 50));

function List() {
  return (
    <main className="gallery">
      <h1>States of the page</h1>
      {Object.keys(SCENES).map((name) => (
        <figure key={name}>
          <figcaption>
            <a href={`/gallery?scene=${encodeURIComponent(name)}`}>{name}</a>
          </figcaption>
          <iframe title={`${name}, on a phone`} loading="lazy" src={`/gallery?scene=${encodeURIComponent(name)}`} />
          <iframe
            title={`${name}, on a desk`}
            className="wide"
            loading="lazy"
            src={`/gallery?scene=${encodeURIComponent(name)}`}
          />
        </figure>
      ))}
    </main>
  );
}

/**
 * A name of the page as it is called in its language: "History: Morning round" is "Verlauf: Morning
 * round".
 */
function inPageLanguage(name: string): string {
  const whole = spoken.texts[name];
  if (typeof whole === 'string') return whole;
  const [, act = '', subject] = /^([^:]+): (.+)$/.exec(name) ?? [];
  if (subject !== undefined) return `${inPageLanguage(act)}: ${subject}`;
  for (const [key, text] of Object.entries(spoken.texts)) {
    if (typeof text !== 'string' || !/^\w+ [^{]*\{0\}$/.test(key)) continue;
    const before = key.slice(0, -3);
    if (name.startsWith(before)) return text.replace('{0}', () => name.slice(before.length));
  }
  return name;
}

/**
 * Presses what is called so, in the language of the page, as soon as it is there; what a scene
 * opens by hand has no address of its own.
 */
async function press(name: string): Promise<void> {
  const wanted = inPageLanguage(name);
  for (let i = 0; i < 200; i += 1) {
    const all = [...document.querySelectorAll<HTMLElement>('button, [role="menuitem"], summary, a, label')];
    const found = all.find((each) => (each.getAttribute('aria-label') ?? each.textContent).trim().startsWith(wanted));
    if (found) return found.click();
    await settled();
  }
  throw new Error(`There is nothing called "${wanted}" to press.`);
}

/** Types into the field that has the focus, as React hears it. */
function type(text: string): void {
  const field = document.activeElement;
  if (!(field instanceof HTMLInputElement)) throw new Error('There is no field to type into.');
  Reflect.set(HTMLInputElement.prototype, 'value', text, field);
  field.dispatchEvent(new Event('input', { bubbles: true }));
}

async function show(scene: Scene): Promise<void> {
  if (scene.broken !== undefined) {
    mount.render(<Broken error={new Error(scene.broken)} resetErrorBoundary={() => undefined} />);
    return;
  }
  if (scene.design !== undefined) {
    mount.render(<DesignParts dialog={scene.design === 'parts' ? null : scene.design} />);
    return;
  }
  localStorage.clear();
  sessionStorage.clear();
  history.replaceState(null, '', scene.path ?? '/');
  const [owner, relay, exports, reach] = [memoryOwner(scene.docs ?? []), memoryRelay(), memoryExports(), memoryReach()];
  scene.prepare?.({ owner, relay, reach });
  const { after } = testDevice(NOW);
  const state = createRoostState({
    dataWorker: owner,
    relay,
    callRelay: reach.port,
    exports,
    device: { ...testDevice(NOW), after },
    node: 'gallery',
  });
  await fetchLaterParts();
  state.start();
  owner.say({
    news: 'welcome',
    link: scene.link ?? { kind: 'live' },
    snapshot: scene.snapshot === undefined ? NO_SESSION_SNAPSHOT : scene.snapshot,
    answers: [],
    problem: scene.problem ?? null,
  });
  mount.render(
    <RoostProvider state={state}>
      <App />
    </RoostProvider>,
  );
  await settled();
  let id = 1000;
  for (const event of scene.events ?? []) owner.say({ news: 'event', stored: { id: (id += 1), event } });
  if (scene.then) {
    scene.then(state, owner);
    // What is heard is gathered, asked about and drawn.
    for (let i = 0; i < 10; i += 1) await settled();
  }
  for (const name of scene.press ?? []) {
    do await settled();
    while (document.querySelector('.lazy'));
    await press(name);
  }
  if (scene.type !== undefined) {
    for (let i = 0; i < 40 && !(document.activeElement instanceof HTMLInputElement); i += 1) await settled();
    type(scene.type);
    for (let i = 0; i < 10; i += 1) await settled();
  }
}

const wanted = new URLSearchParams(location.search).get('scene');
const scene = wanted === null ? undefined : SCENES[wanted];
if (lacksTexts() && (await fetchTexts())) location.reload();
else if (wanted === null) mount.render(<List />);
else if (!scene) mount.render(<p>There is no scene called {wanted}.</p>);
else {
  await show(scene);
  // Parts of the page that come when they are first wanted.
  do await settled();
  while (document.querySelector('.lazy'));
  // React shows what was waited for no sooner than this after what it showed last.
  await new Promise((resolve) => setTimeout(resolve, 400));
  // What takes pictures waits for it.
  document.documentElement.dataset['scene'] = wanted;
}
