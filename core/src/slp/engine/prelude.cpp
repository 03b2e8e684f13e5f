#include "baytree/slp/engine/library.hpp"

namespace baytree::slp {

// Written so that the last solution leaves no alternative behind: the first argument tells the clauses apart.
std::string_view prelude() {
  return R"(
member(X, [H|T]) :- '$member'(T, X, H).
'$member'(_, X, X).
'$member'([H|T], X, _) :- '$member'(T, X, H).

append([], L, L).
append([H|T], L, [H|R]) :- append(T, L, R).

between(L, H, X) :- ( var(X) -> '$between'(L, H, X) ; X >= L, X =< H ).
'$between'(L, H, X) :- ( L < H -> '$from'(L, H, X) ; L =:= H, X is L ).
'$from'(L, _, X) :- X is L.
'$from'(L, H, X) :- M is L + 1, '$between'(M, H, X).

nth0(I, L, E) :- ( var(I) -> '$nth'(L, 0, I, E) ; '$at'(I, L, E) ).
nth1(I, L, E) :- ( var(I) -> '$nth'(L, 1, I, E) ; J is I - 1, '$at'(J, L, E) ).
'$nth'([H|T], N, I, E) :- '$nth'(T, H, N, I, E).
'$nth'(_, E, N, N, E).
'$nth'([H|T], _, N, I, E) :- M is N + 1, '$nth'(T, H, M, I, E).
'$at'(I, [H|T], E) :- ( I =:= 0 -> E = H ; I > 0, J is I - 1, '$at'(J, T, E) ).

arg(N, T, A) :- ( var(N) -> T =.. [_|As], nth1(N, As, A) ; '$arg'(N, T, A) ).

feature(F) :- '$features'(Fs), member(F, Fs).
type(F, T) :- '$feature'(F), '$type'(F, T).
admissible(N, F, V) :- '$feature'(F), '$admissible'(N, F, V, Vs), member(V, Vs).
% A feature that is given may be called x1, x2, … and must be one.
'$feature'(F) :- ( var(F) -> feature(F) ; '$column'(F, _) ).

% What max_leaves/1 and require/1 say of a whole tree.
'$whole'(T) :- \+ '$too_large'(T), \+ '$lacks'(T).
'$too_large'(T) :- max_leaves(K), '$leaves'(T, N), N > K.
'$lacks'(T) :- require(F), '$column'(F, C), \+ '$uses'(T, C).
'$leaves'(leaf(_), 1).
'$leaves'(split(_, _, L, R), N) :- '$leaves'(L, A), '$leaves'(R, B), N is A + B.
'$uses'(split(F, _, _, _), F).
'$uses'(split(_, _, L, _), F) :- '$uses'(L, F).
'$uses'(split(_, _, _, R), F) :- '$uses'(R, F).
)";
}

}  // namespace baytree::slp
