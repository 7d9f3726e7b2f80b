"""From materials to lists: which list shows which sentence, in which order, on which side. Without Django."""

from experiments.design.balance import least_filled
from experiments.design.fillers import prepend_trials, spread_catch, with_fillers
from experiments.design.latin_square import complete_lists, forced_choice_lists, latin_square_lists
from experiments.design.ordering import OrderRules, order_trials
from experiments.design.plan import DesignSpec, Extras, planned_lists
from experiments.design.rounds import RoundSpec, planned_rounds
from experiments.design.sampling import sampled_blocks
from experiments.design.trials import PlannedTrial, Stimulus

__all__ = [
    "DesignSpec",
    "Extras",
    "OrderRules",
    "PlannedTrial",
    "RoundSpec",
    "Stimulus",
    "complete_lists",
    "forced_choice_lists",
    "latin_square_lists",
    "least_filled",
    "order_trials",
    "planned_lists",
    "planned_rounds",
    "sampled_blocks",
    "spread_catch",
    "with_fillers",
    "prepend_trials",
]
