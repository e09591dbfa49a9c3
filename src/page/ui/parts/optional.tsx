import { lazy, Suspense, type ComponentType } from 'react';

/**
 * A part of the page that is fetched when it is first shown, and left out where it does not come,
 * because the relay is gone.
 */
export function optional<Props extends object>(
  load: () => Promise<{ readonly default: ComponentType<Props> }>,
): ComponentType<Props> {
  const Part = lazy<ComponentType<Props>>(() => load().catch(() => ({ default: () => null })));
  return function Optional(props) {
    return (
      <Suspense fallback={null}>
        <Part {...props} />
      </Suspense>
    );
  };
}
