/**
 * Gives the variables of a script other names of one letter. A script is smaller as brotli when the same letter stands in the
 * same places, which no minifier looks for; which letters are best is found by trying (`names.ts`).
 */
import { type Node, parse } from 'acorn';

/** What is between braces, or a function with its parameters. */
class Scope {
  readonly variables = new Map<string, Variable>();
  readonly outer: Scope | undefined;
  readonly isFunction: boolean;

  constructor(outer: Scope | undefined, isFunction: boolean) {
    this.outer = outer;
    this.isFunction = isFunction;
  }

  declare(name: string): void {
    if (!this.variables.has(name)) this.variables.set(name, new Variable(name, this));
  }

  find(name: string): Variable | undefined {
    return this.variables.get(name) ?? this.outer?.find(name);
  }

  get ofFunction(): Scope {
    return this.isFunction || !this.outer ? this : this.outer.ofFunction;
  }
}

/** Something with a name, and the scopes in which the name is taken by it: from its own to each that uses it. */
class Variable {
  readonly name: string;
  readonly scope: Scope;
  readonly scopes: Set<Scope>;

  constructor(name: string, scope: Scope) {
    this.name = name;
    this.scope = scope;
    this.scopes = new Set([scope]);
  }

  takeIn(from: Scope): void {
    for (let scope: Scope | undefined = from; scope && scope !== this.scope; scope = scope.outer)
      this.scopes.add(scope);
  }
}

// biome-ignore lint/suspicious/noExplicitAny: acorn's nodes are read here by their fields
type Tree = any;

const isNode = (value: unknown): value is Node => typeof (value as Node | null)?.type === 'string';

const childrenOf = (node: Tree): { key: string; child: Tree }[] =>
  Object.keys(node).flatMap((key) =>
    [node[key]]
      .flat()
      .filter(isNode)
      .map((child) => ({ key, child })),
  );

/** The names that a pattern declares: `a`, `{b: a}`, `[a]`, `a = 1`, `...a`. */
const namesIn = (pattern: Tree): string[] => {
  if (pattern.type === 'Identifier') return [pattern.name];
  if (pattern.type === 'Property') return namesIn(pattern.value);
  if (pattern.type === 'AssignmentPattern') return namesIn(pattern.left);
  return childrenOf(pattern).flatMap(({ child }) => namesIn(child));
};

const isVariable = (parent: Tree, key: string): boolean =>
  parent.computed ||
  !((parent.type === 'MemberExpression' && key === 'property') || (parent.type === 'Property' && key === 'key'));

/** A use of a variable, or of a global, which has no variable here. */
interface Use {
  readonly start: number;
  readonly name: string;
  readonly scope: Scope;
}

const usesIn = (code: string): Use[] => {
  const uses: Use[] = [];
  const visit = (node: Tree, scope: Scope, parent: Tree, key: string): void => {
    if (node.type === 'Identifier' && isVariable(parent, key)) uses.push({ start: node.start, name: node.name, scope });
    const isFunction = /Function/.test(node.type);
    if (node.type === 'FunctionDeclaration' || node.shorthand) throw new Error(`can't rename in ${node.type}`);
    // The body of a function, or of a catch, shares the scope of its parameters.
    const isBody = node.type === 'BlockStatement' && /Function|CatchClause/.test(parent.type);
    const hasScope = isFunction || (/^(BlockStatement|CatchClause|For)/.test(node.type) && !isBody);
    const inner = hasScope ? new Scope(scope, isFunction) : scope;
    const declared = [
      ...(isFunction ? node.params : []),
      ...(node.type === 'CatchClause' && node.param ? [node.param] : []),
    ];
    for (const name of declared.flatMap(namesIn)) inner.declare(name);
    if (node.type === 'VariableDeclaration')
      for (const { id } of node.declarations)
        for (const name of namesIn(id)) (node.kind === 'var' ? scope.ofFunction : scope).declare(name);
    for (const { key, child } of childrenOf(node)) visit(child, inner, node, key);
  };
  visit(parse(code, { ecmaVersion: 2018 }), new Scope(undefined, true), {}, '');
  return uses.sort((one, other) => one.start - other.start);
};

export interface Renaming {
  /** The letters that the variables have, in the order in which they first stand in the script. */
  readonly names: string;
  /** For each variable those whose letter must be another. */
  readonly conflicts: readonly (readonly number[])[];
  /** Letters that are free to be given. */
  readonly letters: string;
  /** The script with these letters instead. */
  rename(names: string): string;
}

const alphabet = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ$_';

/** Reads a minified script, of which every variable has a name of one letter. */
export const readNames = (code: string): Renaming => {
  const found = usesIn(code).map((use) => ({ ...use, variable: use.scope.find(use.name) }));
  const globals = new Set(found.filter(({ variable }) => !variable).map(({ name }) => name));
  const uses = found.flatMap(({ variable, ...use }) => (variable ? [{ ...use, variable }] : []));
  for (const { variable, scope } of uses) variable.takeIn(scope);
  const variables = [...new Set(uses.map(({ variable }) => variable))];
  const numbers = new Map(variables.map((variable, number) => [variable, number]));
  const parts: string[] = [];
  let end = 0;
  for (const { start, name } of uses) {
    if (name.length > 1) throw new Error(`${name} is no letter`);
    parts.push(code.slice(end, start));
    end = start + 1;
  }
  const rest = code.slice(end);
  const numbersOfUses = uses.map(({ variable }) => numbers.get(variable) as number);
  return {
    names: variables.map(({ name }) => name).join(''),
    conflicts: variables.map((one) =>
      variables.flatMap((other, number) =>
        one !== other && (one.scopes.has(other.scope) || other.scopes.has(one.scope)) ? [number] : [],
      ),
    ),
    letters: [...alphabet].filter((letter) => !globals.has(letter)).join(''),
    rename: (names) => parts.map((part, at) => part + names[numbersOfUses[at] as number]).join('') + rest,
  };
};

/** Whether these are letters for all of its variables, and no two that meet have the same. */
export const isRight = ({ conflicts, letters }: Renaming, names: string): boolean =>
  names.length === conflicts.length &&
  conflicts.every(
    (others, number) =>
      letters.includes(names[number] as string) && others.every((other) => names[other] !== names[number]),
  );
