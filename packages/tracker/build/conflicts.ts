/** Finds variables in a script that must not have the same letter. */
import { type AnyNode, parse } from 'acorn';

type Scope = { readonly from: number; readonly to: number; readonly outer: Scope | undefined };

/** The scopes that declare a variable, and the positions of its uses. */
type Variable = { readonly scopes: Set<Scope>; readonly uses: number[] };

const isNode = (value: unknown): value is AnyNode => typeof (value as AnyNode | null)?.type === 'string';

const childrenOf = (node: AnyNode): AnyNode[] => Object.values(node).flat().filter(isNode);

/** Returns the names that a declaration's pattern declares. */
const namesOf = (pattern: AnyNode): string[] => {
  switch (pattern.type) {
    case 'Identifier':
      return [pattern.name];
    case 'Property':
      return namesOf(pattern.value);
    case 'AssignmentPattern':
      return namesOf(pattern.left);
    default:
      return childrenOf(pattern).flatMap(namesOf);
  }
};

/** Returns a numbered script's variables (`numberVariables`), by number. */
const findVariables = (numbered: string): Variable[] => {
  const variables: Variable[] = [];
  const variable = (name: string): Variable => {
    const number = Number(name.slice(1, -1));
    variables[number] ??= { scopes: new Set(), uses: [] };
    return variables[number];
  };
  const declare = (pattern: AnyNode, scope: Scope) => {
    for (const name of namesOf(pattern)) variable(name).scopes.add(scope);
  };
  const visit = (node: AnyNode, scope: Scope, functionScope: Scope): void => {
    const inner: Scope = { from: node.start, to: node.end, outer: scope };
    switch (node.type) {
      case 'Identifier':
        if (node.name.startsWith('$')) variable(node.name).uses.push(node.start);
        return;
      case 'ArrowFunctionExpression':
      case 'FunctionExpression':
      case 'FunctionDeclaration': {
        if (node.id) declare(node.id, scope);
        for (const each of node.params) declare(each, inner);
        // A body is not a separate scope: it may not redeclare a parameter.
        const body = node.body.type === 'BlockStatement' ? node.body.body : [node.body];
        for (const each of [...node.params, ...body]) visit(each, inner, inner);
        return;
      }
      case 'CatchClause':
        if (node.param) declare(node.param, inner);
        for (const each of node.body.body) visit(each, inner, functionScope);
        return;
      case 'VariableDeclaration':
        for (const { id } of node.declarations) declare(id, node.kind === 'var' ? functionScope : scope);
        for (const each of childrenOf(node)) visit(each, scope, functionScope);
        return;
      case 'BlockStatement':
      case 'ForStatement':
      case 'ForInStatement':
      case 'ForOfStatement':
        for (const each of childrenOf(node)) visit(each, inner, functionScope);
        return;
      default:
        for (const each of childrenOf(node)) visit(each, scope, functionScope);
    }
  };
  const program = parse(numbered, { ecmaVersion: 2018 });
  const programScope: Scope = { from: 0, to: numbered.length, outer: undefined };
  for (const each of program.body) visit(each, programScope, programScope);
  return variables;
};

const isWithin = (scope: Scope, outer: Scope): boolean =>
  scope.outer !== undefined && (scope.outer === outer || isWithin(scope.outer, outer));

/** Whether a scope declares both variables, or the scope of `other` would shadow a use of `variable`. */
const isHidden = (variable: Variable, other: Variable): boolean =>
  [...variable.scopes].some((outer) =>
    [...other.scopes].some(
      (scope) =>
        scope === outer || (isWithin(scope, outer) && variable.uses.some((use) => scope.from <= use && use < scope.to)),
    ),
  );

/** Returns, for each variable in a numbered script, the numbers of the variables that must differ from it. */
export const findConflicts = (numbered: string): number[][] => {
  const variables = findVariables(numbered);
  return variables.map((variable) =>
    variables.flatMap((other, number) =>
      other !== variable && (isHidden(variable, other) || isHidden(other, variable)) ? [number] : [],
    ),
  );
};
