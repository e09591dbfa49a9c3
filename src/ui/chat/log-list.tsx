/**
 * The list that a log is: as many rows as there are, of which those in sight and around it are on the page.
 *
 * It is a list, not a feed: each row says which one of how many it is, so that a screen reader counts the
 * rows that are not on the page too, and PageUp, PageDown, Home and End stay what they are everywhere else.
 * (In a feed they would go from article to article, and few readers know one.)
 */
import { createContext, use, type ReactNode, type Ref } from 'react';
import type { CustomContainerComponentProps, CustomItemComponentProps } from 'virtua';

/** How many rows there are; -1: not known, because earlier ones have not been read yet. */
export const RowCount = createContext(0);

export function LogList({
  style,
  children,
  ref,
}: Omit<CustomContainerComponentProps, 'ref'> & { ref?: Ref<HTMLOListElement>; children: ReactNode }) {
  return (
    // Without marks a list is none to Safari, unless it is called one.
    // eslint-disable-next-line jsx-a11y/no-redundant-roles
    <ol ref={ref} role="list" style={style}>
      {children}
    </ol>
  );
}

export function LogItemFrame({
  style,
  index,
  children,
  ref,
}: Omit<CustomItemComponentProps, 'ref'> & { ref?: Ref<HTMLLIElement>; children: ReactNode }) {
  const count = use(RowCount);
  return (
    <li ref={ref} style={style} aria-setsize={count} aria-posinset={index + 1}>
      {children}
    </li>
  );
}
