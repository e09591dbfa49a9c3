import { type KeyboardEvent, type ReactNode, useId } from 'react';
import { useLocation } from 'wouter';
import { arrowAlong, keyOf } from './keys.ts';
import './tabs.css';

interface TabsProps<Tab extends string> {
  /** The subject of the tabs. */
  readonly label: string;
  readonly tabs: readonly { readonly tab: Tab; readonly title: string; readonly path: string }[];
  readonly shown: Tab;
  /** Content of the selected tab. */
  readonly children: ReactNode;
}

const STEPS: Readonly<Record<string, (at: number, last: number) => number>> = {
  ArrowRight: (at, last) => (at === last ? 0 : at + 1),
  ArrowLeft: (at, last) => (at === 0 ? last : at - 1),
  Home: () => 0,
  End: (_at, last) => last,
};

/**
 * Tabs, one of them shown. Each has an address of its own, so each is a link that can be opened
 * elsewhere.
 */
export function Tabs<Tab extends string>({ label, tabs, shown, children }: TabsProps<Tab>) {
  const [, go] = useLocation();
  const id = useId();
  const step = (event: KeyboardEvent<HTMLElement>) => {
    const { currentTarget, altKey, ctrlKey, metaKey } = event;
    // With modifiers these keys belong to the browser, for example to go back.
    if (altKey || ctrlKey || metaKey) return;
    const links = [...currentTarget.querySelectorAll<HTMLElement>('[role=tab]')];
    const at = links.findIndex((link) => link === document.activeElement);
    const next = at < 0 ? undefined : STEPS[arrowAlong(keyOf(event), currentTarget)]?.(at, links.length - 1);
    const tab = next === undefined ? undefined : tabs[next];
    if (next === undefined || !tab) return;
    event.preventDefault();
    links[next]?.focus();
    // Moving through tabs adds nothing to the history.
    go(tab.path, { replace: true });
  };
  return (
    <>
      {/* The tabs take the focus, one at a time. */}
      {/* eslint-disable-next-line jsx-a11y/interactive-supports-focus */}
      <div className="tabs" role="tablist" aria-label={label} onKeyDown={step}>
        {tabs.map(({ tab, title, path }) => (
          <a
            key={tab}
            id={`${id}-${tab}`}
            href={path}
            role="tab"
            aria-selected={tab === shown}
            aria-controls={`${id}-panel`}
            tabIndex={tab === shown ? 0 : -1}
            onClick={(event) => {
              // The browser handles opening a new tab or window.
              if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
              event.preventDefault();
              go(path);
            }}
          >
            {title}
          </a>
        ))}
      </div>
      <div id={`${id}-panel`} className="tab-panel" role="tabpanel" aria-labelledby={`${id}-${shown}`} tabIndex={0}>
        {children}
      </div>
    </>
  );
}
